"""Conversions between types."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pylibcudf as plc  # type: ignore[import-not-found,unused-ignore]

from . import operations as op
from .calls import Call
from .columns import to_cudf
from .kinds import NUMBERS, TIMES, cudf_type, kind_of
from .table import rows
from .times import PER_SECOND, need_calendar

_is = pa.types
#: The largest integers up to which a type of floating-point numbers has all.
EXACT = {pa.float32(): 2**24, pa.float64(): 2**53}


@rows(f"bool {NUMBERS} {TIMES} string dictionary")
def cast(call: Call) -> Any:
    (value,) = call.values
    given, wanted = call.types[0], call.options["to_type"]
    if given == wanted:
        return value
    if _is.is_dictionary(given):
        return _decoded(call, wanted)
    kinds = kind_of(given), kind_of(wanted)
    call.need(kinds in _BY_KINDS, f"not from {given} to {wanted}")
    return _BY_KINDS[kinds](call, value, given, wanted)


def _decoded(call: Call, wanted: pa.DataType) -> Any:
    array = call.array(0)
    call.need(array.type.value_type == wanted, "not of dictionaries to another type")
    call.need(array.dictionary.null_count == 0, "not with nulls in the dictionary")
    size = len(array.dictionary)
    indices = op.cast(to_cudf(array.indices), op.INT64)
    beyond = op.filled(indices, op.scalar(size, pa.int64()))
    return op.one(op.gathered(plc.Table([to_cudf(array.dictionary)]), beyond, may_lack=True))


def _int_to_number(call: Call, value: Any, given: pa.DataType, wanted: pa.DataType) -> Any:
    option = "allow_float_truncate" if _is.is_floating(wanted) else "allow_int_overflow"
    if call.options[option]:
        return op.cast(value, cudf_type(wanted))
    return without_loss(value, given, wanted)


def _range_of(kind: pa.DataType) -> tuple[int, int]:
    bits = kind.bit_width - _is.is_signed_integer(kind)
    return -(2**bits) * _is.is_signed_integer(kind), 2**bits - 1


def without_loss(value: Any, given: pa.DataType, wanted: pa.DataType) -> Any:
    """A value in the type of a computation; raises pyarrow's error where that loses digits."""
    if given != wanted and _is.is_integer(given):
        _check_range(op.column_of(value, 1), given, wanted)
    return op.cast(value, cudf_type(wanted))


def _check_range(value: Any, given: pa.DataType, wanted: pa.DataType) -> None:
    """That integers are in the range of a type, or in that in which it has all integers."""
    least, most = _range_of(given)
    if _is.is_floating(wanted):
        lowest, highest = max(-EXACT[wanted], least), EXACT[wanted]
    else:
        lowest, highest = _range_of(wanted)
    if (least >= lowest and most <= highest) or value.size() == value.null_count():
        return
    for found in plc.reduce.minmax(value):
        number = found.to_py()
        if not lowest <= number <= highest:
            raise pa.ArrowInvalid(f"Integer value {number} not in range: {lowest} to {highest}")


def _float_to_int(call: Call, value: Any, given: pa.DataType, wanted: pa.DataType) -> Any:
    lowest, highest = _range_of(wanted)
    result = op.cast(value, cudf_type(wanted))
    is_strict = not call.options["allow_float_truncate"]
    # The largest integer may become the number behind it, and come back as itself.
    below = "LESS", 0, op.scalar(float(highest + 1), given)
    if is_strict:
        is_right, columns = ("EQUAL", 0, 1), [value, op.cast(result, value.type())]
    else:
        is_right, columns = ("GREATER_EQUAL", 0, op.scalar(float(lowest), given)), [value]
    if not op.is_everywhere(op.computed(("LOGICAL_AND", is_right, below), *columns)):
        call.need(is_strict, "not numbers that the type does not have")
        raise pa.ArrowInvalid(f"Float value was truncated converting to {wanted}")
    return result


def _as_libcudf(call: Call, value: Any, given: pa.DataType, wanted: pa.DataType) -> Any:
    return op.cast(value, cudf_type(wanted))


def _to_bool(call: Call, value: Any, given: pa.DataType, wanted: pa.DataType) -> Any:
    return op.binary("NOT_EQUAL", value, op.scalar(0, given))


def _int_or_time(call: Call, value: Any, given: pa.DataType, wanted: pa.DataType) -> Any:
    integer = given if _is.is_integer(given) else wanted
    is_same = given.bit_width == wanted.bit_width and _is.is_signed_integer(integer)
    call.need(is_same, f"not {integer}")
    return op.same_bits(value, cudf_type(wanted))


def _between_units(call: Call, value: Any, given: pa.DataType, wanted: pa.DataType) -> Any:
    call.need(getattr(given, "tz", None) == getattr(wanted, "tz", None), "not between time zones")
    before, after = PER_SECOND[given.unit], PER_SECOND[wanted.unit]
    counts = op.same_bits(value, op.INT64)
    operator, factor = ("MUL", after // before) if after >= before else ("DIV", before // after)
    result = op.binary(operator, counts, op.scalar(factor, pa.int64()), op.INT64)
    back = op.binary(
        "DIV" if operator == "MUL" else "MUL", result, op.scalar(factor, pa.int64()), op.INT64
    )
    allowed = call.options["allow_time_truncate" if operator == "DIV" else "allow_time_overflow"]
    if not allowed and op.is_anywhere(op.binary("NOT_EQUAL", back, counts)):
        loses = "lose data" if operator == "DIV" else "result in out of bounds timestamp"
        raise pa.ArrowInvalid(f"Casting from {given} to {wanted} would {loses}")
    return op.same_bits(result, cudf_type(wanted))


def _date_to_time(call: Call, value: Any, given: pa.DataType, wanted: pa.DataType) -> Any:
    call.need(wanted.tz is None and wanted.unit != "ns", f"not to {wanted}")
    call.need(op.are_within(value, 2**63 // (86400 * PER_SECOND[wanted.unit])), "not of such dates")
    return op.cast(value, cudf_type(wanted))


def _time_to_date(call: Call, value: Any, given: pa.DataType, wanted: pa.DataType) -> Any:
    need_calendar(call, value, given)
    days = plc.datetime.floor_datetimes(value, plc.datetime.RoundingFrequency.DAY)
    return op.cast(days, cudf_type(wanted))


def _int_to_string(call: Call, value: Any, given: pa.DataType, wanted: pa.DataType) -> Any:
    return plc.strings.convert.convert_integers.from_integers(value)


def _bool_to_string(call: Call, value: Any, given: pa.DataType, wanted: pa.DataType) -> Any:
    words = op.scalar("true"), op.scalar("false")
    return plc.strings.convert.convert_booleans.from_booleans(value, *words)


def _string_to_int(call: Call, value: Any, given: pa.DataType, wanted: pa.DataType) -> Any:
    kind = cudf_type(wanted)
    plain = plc.strings.regex_program.RegexProgram.create(
        "^-?[0-9]+$" if _is.is_signed_integer(wanted) else "^[0-9]+$",
        plc.strings.regex_flags.RegexFlags.DEFAULT,
    )
    convert = plc.strings.convert.convert_integers
    is_plain = plc.strings.contains.contains_re(value, plain)
    fits = convert.is_integer(value, kind)
    call.need(
        not op.is_anywhere(op.invert(op.binary("LOGICAL_AND", is_plain, fits))),
        "not of strings that are not plain decimal integers in the range of the type",
    )
    return convert.to_integers(value, kind)


_BY_KINDS: dict[tuple[str, str], Any] = {
    ("int", "int"): _int_to_number,
    ("int", "float"): _int_to_number,
    ("float", "int"): _float_to_int,
    ("float", "float"): _as_libcudf,
    ("bool", "int"): _as_libcudf,
    ("bool", "float"): _as_libcudf,
    ("int", "bool"): _to_bool,
    ("float", "bool"): _to_bool,
    ("int", "time"): _int_or_time,
    ("int", "duration"): _int_or_time,
    ("int", "date"): _int_or_time,
    ("time", "int"): _int_or_time,
    ("duration", "int"): _int_or_time,
    ("date", "int"): _int_or_time,
    ("time", "time"): _between_units,
    ("duration", "duration"): _between_units,
    ("date", "time"): _date_to_time,
    ("time", "date"): _time_to_date,
    ("int", "string"): _int_to_string,
    ("bool", "string"): _bool_to_string,
    ("string", "int"): _string_to_int,
}
