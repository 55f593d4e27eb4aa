"""Conversions between types."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pylibcudf as plc  # type: ignore[import-not-found,unused-ignore]

from .. import operations as op
from ..calls import Call
from ..columns import to_cudf
from ..refusals import need
from ..registry import kernel
from ..types import ANY, BYTES, NUMBERS, ORDERED_TIMES, TEXTS, cudf_type, kind_of
from .lists import cast_elements
from .nearest_decimals import nearest_decimals
from .time_texts import written
from .times import need_calendar
from .utf8 import are_utf8
from .zones import PER_SECOND, local

_is = pa.types
_convert = plc.strings.convert
#: By floating-point type: the largest integer up to which it has every integer.
EXACT = {pa.float32(): 2**24, pa.float64(): 2**53}


@kernel(f"{ANY} view")
def cast(call: Call) -> Any:
    wanted = call.options["to_type"]
    if call.given == wanted:
        return call.array(0) if kind_of(wanted) == "view" else call.value
    if _is.is_dictionary(call.given):
        return _decode_dictionary(call, wanted)
    kinds = kind_of(call.given), kind_of(wanted)
    call.need(kinds in _CAST_BY_KINDS, f"not from {call.given} to {wanted}")
    return _CAST_BY_KINDS[kinds](call, call.value, wanted)


def _decode_dictionary(call: Call, wanted: pa.DataType) -> Any:
    array = call.array(0)
    kinds = array.type.value_type, wanted
    are_texts = all(kind_of(it) in TEXTS.split() for it in kinds)
    call.need(are_texts or kinds[0] == kinds[1], "not of dictionaries to another type")
    return decoded(call.value, array.dictionary)


#: Functions for which pyarrow takes dictionaries for their values.
BY_VALUE = frozenset(
    ["equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "is_in", "index_in"]
)


#: Functions for which pyarrow takes dictionaries for their indices.
BY_INDEX = frozenset(["unique", "value_counts"])


def need_distinct_values(dictionary: pa.Array) -> None:
    """Refuses a dictionary that has one value at two places, by which pyarrow tells rows apart."""
    rules = plc.types.NullPolicy.EXCLUDE, plc.types.NanPolicy.NAN_IS_VALID
    count = plc.reduce.distinct_count(op.keys_of(to_cudf(dictionary)), *rules)
    need(count == len(dictionary), "not of a dictionary that has a value twice: cast to its values")


def decoded(indices: Any, dictionary: pa.Array) -> Any:
    """The values at the places of a dictionary."""
    size = op.scalar(len(dictionary), pa.int64())
    out_of_range = op.filled(op.cast(indices, op.INT64), size)
    return op.one(op.gathered(plc.Table([to_cudf(dictionary)]), out_of_range, may_lack=True))


def _int_to_number(call: Call, value: Any, wanted: pa.DataType) -> Any:
    option = "allow_float_truncate" if _is.is_floating(wanted) else "allow_int_overflow"
    if call.options[option]:
        return op.cast(value, cudf_type(wanted))
    return cast_without_loss(value, call.given, wanted)


def _range_of(kind: pa.DataType) -> tuple[int, int]:
    bits = kind.bit_width - _is.is_signed_integer(kind)
    return -(2**bits) * _is.is_signed_integer(kind), 2**bits - 1


def cast_without_loss(value: Any, given: pa.DataType, wanted: pa.DataType) -> Any:
    """A value in the type of a computation; raises pyarrow's error where that loses digits."""
    if _is.is_decimal(given) and _is.is_floating(wanted):
        return _float_of_decimal(value, given, wanted)
    if _is.is_decimal(wanted):
        # By way of integers of 128 bits, which are wide enough.
        return op.cast(
            op.cast(value, op.WIDE) if _is.is_integer(given) else value, cudf_type(wanted)
        )
    if given != wanted and _is.is_integer(given):
        _check_range(op.column_of(value, 1), given, wanted)
    return op.cast(value, cudf_type(wanted))


def _float_of_decimal(value: Any, given: pa.DataType, wanted: pa.DataType) -> Any:
    """libcudf rounds once where pyarrow multiplies a rounded power of ten."""
    if isinstance(value, plc.Scalar):
        return op.scalar(value.to_arrow().cast(wanted).as_py(), wanted)
    digits = op.unscaled(value)
    is_exact = 10**given.precision <= EXACT[wanted] or op.are_within(digits, EXACT[wanted])
    need(is_exact, f"not of decimals with more digits than {wanted} has")
    power = op.scalar(float(f"1e{-given.scale}"), wanted)
    return op.binary("MUL", op.cast(digits, cudf_type(wanted)), power, cudf_type(wanted))


def _check_range(value: Any, given: pa.DataType, wanted: pa.DataType) -> None:
    """Raises if an integer is not in the range of a type; for floating-point types, in the range in
    which the type has every integer."""
    least, most = _range_of(given)
    if _is.is_floating(wanted):
        lowest, highest = max(-EXACT[wanted], least), EXACT[wanted]
    else:
        lowest, highest = _range_of(wanted)
    if (least >= lowest and most <= highest) or value.size() == value.null_count():
        return
    for number in op.ends_of(value):
        if not lowest <= number <= highest:
            raise pa.ArrowInvalid(f"Integer value {number} not in range: {lowest} to {highest}")


def _float_to_int(call: Call, value: Any, wanted: pa.DataType) -> Any:
    lowest, highest = _range_of(wanted)
    result = op.cast(value, cudf_type(wanted))
    is_strict = not call.options["allow_float_truncate"]
    # The largest integer may become the floating-point number after it, and come back unchanged.
    is_in_range = "LESS", 0, op.scalar(float(highest + 1), call.given)
    if is_strict:
        is_right, columns = ("EQUAL", 0, 1), [value, op.cast(result, value.type())]
    else:
        is_right, columns = ("GREATER_EQUAL", 0, op.scalar(float(lowest), call.given)), [value]
    if not op.is_everywhere(op.computed(("LOGICAL_AND", is_right, is_in_range), *columns)):
        call.need(is_strict, "not numbers that the type does not have")
        raise pa.ArrowInvalid(f"Float value was truncated converting to {wanted}")
    return result


#: By type: the most decimal digits of an integer.
DIGITS = {
    getattr(pa, f"{sign}int{bits}")(): len(str(2 ** (bits - (not sign)) - 1))
    for sign in ("", "u")
    for bits in (8, 16, 32, 64)
}


def _int_to_decimal(call: Call, value: Any, wanted: pa.DataType) -> Any:
    if wanted.scale < 0:
        raise pa.ArrowInvalid("Scale must be non-negative")
    least = DIGITS[call.given] + wanted.scale
    if wanted.precision < least:
        text = f"Precision is not great enough for the result. It should be at least {least}"
        raise pa.ArrowInvalid(text)
    return cast_without_loss(value, call.given, wanted)


def _need_same_decimals(call: Call, result: Any, value: Any) -> None:
    """Raises pyarrow's error if a cast has dropped digits that it may not drop."""
    is_allowed = call.options["allow_decimal_truncate"]
    if not is_allowed and op.is_anywhere(
        op.binary("NOT_EQUAL", op.cast(result, value.type()), value)
    ):
        raise pa.ArrowInvalid("Rescaling Decimal value would cause data loss")


def _decimal_to_int(call: Call, value: Any, wanted: pa.DataType) -> Any:
    scale = call.given.scale
    call.need(call.given.precision - min(scale, 0) <= 38 and scale <= 38, "not with such a scale")
    whole = op.cast(value, op.WIDE)
    _need_same_decimals(call, whole, value)
    lowest, highest = _range_of(wanted)
    if not all(end is None or lowest <= end <= highest for end in op.ends_of(whole)):
        call.need(not call.options["allow_int_overflow"], "not numbers that the type does not have")
        raise pa.ArrowInvalid("Integer value out of bounds")
    return op.cast(whole, cudf_type(wanted))


def _decimal_to_decimal(call: Call, value: Any, wanted: pa.DataType) -> Any:
    most_digits = call.given.precision + wanted.scale - call.given.scale
    call.need(most_digits <= 38, "not to numbers of more than 38 digits")
    call.need(call.given.scale - wanted.scale <= 38, "not to such a scale")
    result = op.cast(value, cudf_type(wanted))
    if result is value:
        result = value.copy()  # pyarrow's has memory of its own, to which the program may write
    if wanted.scale < call.given.scale:
        _need_same_decimals(call, result, value)
    fits = most_digits <= wanted.precision or op.are_within(
        op.unscaled(result), 10**wanted.precision - 1
    )
    if not fits:
        call.need(not call.options["allow_decimal_truncate"], "not numbers of too many digits")
        raise pa.ArrowInvalid(f"Decimal value does not fit in precision {wanted.precision}")
    return result


def _int_or_time(call: Call, value: Any, wanted: pa.DataType) -> Any:
    integer = call.given if _is.is_integer(call.given) else wanted
    is_same = call.given.bit_width == wanted.bit_width and _is.is_signed_integer(integer)
    call.need(is_same, f"not {integer}")
    return op.same_bits(value, cudf_type(wanted))


def _per_day(kind: pa.DataType) -> int:
    """How many units of a type a day has."""
    if _is.is_date(kind):
        return 1 if _is.is_date32(kind) else 86400 * 1000
    return 86400 * PER_SECOND[kind.unit]


def _between_units(call: Call, value: Any, wanted: pa.DataType) -> Any:
    given = call.given  # another time zone changes no value
    before, after = _per_day(given), _per_day(wanted)
    counts = op.cast(op.same_bits(value, _integers(given)), op.INT64)
    if after >= before:
        convert, revert, factor = "MUL", "DIV", after // before
        allowed, loses = "allow_time_overflow", "result in out of bounds timestamp"
    else:
        convert, revert, factor = "DIV", "MUL", before // after
        allowed, loses = "allow_time_truncate", "lose data"
    result = op.cast(op.on_int64(convert, counts, factor), _integers(wanted))
    # pyarrow lets those of 32 bits overflow.
    if not call.options[allowed] and (convert == "DIV" or given.bit_width == 64):
        back = op.on_int64(revert, op.cast(result, op.INT64), factor)
        if op.is_anywhere(op.binary("NOT_EQUAL", back, counts)):
            raise pa.ArrowInvalid(f"Casting from {given} to {wanted} would {loses}")
    return op.same_bits(result, cudf_type(wanted))


def _integers(kind: pa.DataType) -> Any:
    """Integers that are as wide as a type."""
    return op.INT32 if kind.bit_width == 32 else op.INT64


def _date_to_time(call: Call, value: Any, wanted: pa.DataType) -> Any:
    call.need(wanted.tz is None and wanted.unit != "ns", f"not to {wanted}")
    call.need(op.are_within(value, 2**63 // (86400 * PER_SECOND[wanted.unit])), "not of such dates")
    return op.cast(value, cudf_type(wanted))


def _time_to_date(call: Call, value: Any, wanted: pa.DataType) -> Any:
    need_calendar(value, call.given)
    days = plc.datetime.floor_datetimes(
        local(value, call.given), plc.datetime.RoundingFrequency.DAY
    )
    return op.cast(days, cudf_type(wanted))


#: As pyarrow writes dates and times.
_DATE = ["%Y", "-", "%m", "-", "%d"]
_TIME = [*_DATE, " ", "%H", ":", "%M", ":", "%S"]


def _time_to_string(call: Call, _: Any, __: Any) -> Any:
    zone = getattr(call.given, "tz", None)
    call.need(zone in (None, "UTC"), "not in time zones")
    return written(call, _DATE if _is.is_date(call.given) else [*_TIME, *("Z" if zone else "")])


def _between_strings(call: Call, value: Any, wanted: pa.DataType) -> Any:
    is_text = _is.is_string(wanted) or _is.is_large_string(wanted)
    is_free = not is_text or not _are_bytes(call.given) or call.options["allow_invalid_utf8"]
    if not is_free and not are_utf8(value):
        call.need(not value.null_count(), "not with such bytes, which may be those under nulls")
        raise pa.ArrowInvalid("Invalid UTF8 payload")
    return value


def _are_bytes(kind: pa.DataType) -> bool:
    return bool(_is.is_binary(kind) or _is.is_large_binary(kind) or _is.is_binary_view(kind))


def _string_to_int(call: Call, value: Any, wanted: pa.DataType) -> Any:
    kind = cudf_type(wanted)
    convert = _convert.convert_integers
    plain = "^-?[0-9]+$" if _is.is_signed_integer(wanted) else "^[0-9]+$"
    fits = op.binary("LOGICAL_AND", op.matches(value, plain), convert.is_integer(value, kind))
    call.need(
        not op.is_anywhere(op.invert(fits)),
        "not of strings that are not plain decimal integers in the range of the type",
    )
    return convert.to_integers(value, kind)


def _as_libcudf(_: Call, value: Any, wanted: pa.DataType) -> Any:
    return op.cast(value, cudf_type(wanted))


#: The kinds of types that a cast starts from, the kinds that it ends at, and its function.
_CASTS: list[tuple[str, str, Any]] = [
    ("int", NUMBERS, _int_to_number),
    ("float", "int", _float_to_int),
    ("float", "float", _as_libcudf),
    ("decimal", "float", lambda call, *given: cast_without_loss(given[0], call.given, given[1])),
    ("decimal", "int", _decimal_to_int),
    ("decimal", "decimal", _decimal_to_decimal),
    ("int", "decimal", _int_to_decimal),
    ("float", "decimal", nearest_decimals),
    ("bool", NUMBERS, _as_libcudf),
    (
        NUMBERS,
        "bool",
        lambda call, value, _: op.binary("NOT_EQUAL", value, op.scalar(0, call.given)),
    ),
    ("int", ORDERED_TIMES, _int_or_time),
    (ORDERED_TIMES, "int", _int_or_time),
    ("time date64", "time", _between_units),
    ("duration", "duration", _between_units),
    ("clock", "clock", _between_units),
    ("date", "date64", _between_units),
    ("date64", "date", _between_units),
    ("date", "time", _date_to_time),
    ("time", "date date64", _time_to_date),
    ("int", TEXTS, lambda _, value, __: _convert.convert_integers.from_integers(value)),
    (
        "bool",
        TEXTS,
        lambda _, value, __: _convert.convert_booleans.from_booleans(
            value, *map(op.scalar, ("true", "false"))
        ),
    ),
    ("date time", TEXTS, _time_to_string),
    (TEXTS, "int", _string_to_int),
    (f"{BYTES} view", BYTES, _between_strings),
    ("list", "list", lambda call, _, wanted: cast_elements(call, wanted, cast)),
]
_CAST_BY_KINDS = {
    (before, after): function
    for kinds, wanted, function in _CASTS
    for before in kinds.split()
    for after in wanted.split()
}
