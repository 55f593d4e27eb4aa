"""Comparisons, logic, nulls, choices between values, and lookups in sets."""

from __future__ import annotations

from contextlib import suppress
from functools import partial, reduce
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pylibcudf as plc  # type: ignore[import-not-found,unused-ignore]

from .. import operations as op
from ..caches import Cache
from ..calls import Call
from ..columns import to_cudf
from ..refusals import need
from ..registry import kernel
from ..types import ANY, BYTES, KEYS, NUMBERS, ORDERED_TIMES, SIMPLE, TIMES, cudf_type, kind_of
from .casts import DIGITS, cast_without_loss
from .zones import PER_SECOND

_is = pa.types
#: libcudf mixes up the nulls of slices of booleans in some of its functions.
_WITHOUT_BOOL = f"{SIMPLE} bits".removeprefix("bool ")


def _is_number(kind: pa.DataType) -> bool:
    return kind_of(kind) in ("int", "float", "decimal")


def _are_one(left: pa.DataType, right: pa.DataType, kinds: frozenset[str]) -> bool:
    """Whether libcudf has both types as one, if they are of some kinds."""
    return {kind_of(left), kind_of(right)} <= kinds and cudf_type(left) == cudf_type(right)


_BYTES = frozenset(BYTES.split())
_common_types = Cache(256)


def common_type(left: pa.DataType, right: pa.DataType) -> pa.DataType:
    """The type in which pyarrow compares numbers: that of their sum, but for decimals."""
    if any(map(_is.is_decimal, (left, right))):
        if any(map(_is.is_floating, (left, right))):
            return pa.float64()
        scale, digits = map(max, zip(_digits(left), _digits(right), strict=True))
        # Newer pyarrows raise an error, and older ones lose digits.
        need(scale + digits <= 38, "not with decimals that need more than 38 digits")
        return pa.decimal128(38, scale)
    return _common_types.get(
        lambda: pc.add(pa.array([], left), pa.array([], right)).type, left, right
    )


def _digits(kind: pa.DataType) -> tuple[int, int]:
    """How many digits a decimal or integer has behind the point, and before it."""
    if _is.is_decimal(kind):
        return kind.scale, kind.precision - kind.scale
    return 0, DIGITS[kind]


def _are_times(call: Call) -> bool:
    """Whether both arguments are times, or both durations."""
    left, right = call.types
    if not (_is.is_timestamp(left) and _is.is_timestamp(right)):
        return bool(_is.is_duration(left) and _is.is_duration(right))
    if call.rows and (left.tz is None) != (right.tz is None):
        text = "Cannot compare timestamp with timezone to timestamp without timezone"
        raise pa.ArrowInvalid(f"{text}, got: {left} and {right}")
    return True


def _in_unit_of(finest: pa.DataType, value: Any, kind: pa.DataType) -> Any:
    factor = PER_SECOND[finest.unit] // PER_SECOND[kind.unit]
    if factor == 1:
        return value
    column = op.column_of(value, 1)
    need(op.are_within(column, (2**63 - 1) // factor), "not with times so far away")
    found = op.cast(column, cudf_type(finest))
    return plc.copying.get_element(found, 0) if isinstance(value, plc.Scalar) else found


def _in_common_type(call: Call) -> list[Any]:
    left, right = call.types
    if left == right or _are_one(left, right, _BYTES):
        return call.values
    if _are_times(call):
        finest = max(call.types, key=lambda it: PER_SECOND[it.unit])
        return [*map(partial(_in_unit_of, finest), call.values, call.types)]
    call.need(_is_number(left) and _is_number(right), "not with several types")
    kind = common_type(left, right)
    return [cast_without_loss(*each, kind) for each in zip(call.values, call.types, strict=True)]


@kernel(f"{KEYS} view", equal="EQUAL", not_equal="NOT_EQUAL")
@kernel(f"{SIMPLE} view dictionary", less="LESS", less_equal="LESS_EQUAL")
@kernel(f"{SIMPLE} view dictionary", greater="GREATER", greater_equal="GREATER_EQUAL")
@kernel("bool", and_="LOGICAL_AND", or_="LOGICAL_OR", xor="NOT_EQUAL")
@kernel("bool", and_kleene="NULL_LOGICAL_AND", or_kleene="NULL_LOGICAL_OR")
def comparison_or_logic(call: Call, operator: str) -> Any:
    return op.binary(operator, *_in_common_type(call))


@kernel(
    f"{NUMBERS} decimal {BYTES} {ORDERED_TIMES}",
    of_one_type=True,
    max_element_wise=("GREATER_EQUAL", "NULL_MAX"),
    min_element_wise=("LESS_EQUAL", "NULL_MIN"),
)
def min_or_max_element_wise(call: Call, operator: str, null_operator: str) -> Any:
    # pyarrow begins with the values that are one for all rows, and keeps the first of two zeros.
    ordered = sorted(call.values, key=lambda it: isinstance(it, plc.Column))
    values = [op.column_of(value, call.rows) for value in ordered]
    kind, skips = cudf_type(call.type), call.options["skip_nulls"]
    if skips and kind_of(call.type) in ("int", *TIMES.split()):
        return reduce(lambda one, other: op.binary(null_operator, one, other, kind), values)

    def pick(one: Any, other: Any) -> Any:
        is_first = op.binary(operator, one, other)
        if _is.is_floating(call.type):
            is_first = op.binary("LOGICAL_OR", is_first, op.is_nan(other))
        found = op.choose(is_first, one, other)
        return op.filled(found, one) if skips else op.null_where(plc.unary.is_null(is_first), found)

    return reduce(pick, values)


@kernel("bool", and_not="LOGICAL_AND", and_not_kleene="NULL_LOGICAL_AND")
def and_not(call: Call, operator: str) -> Any:
    left, right = call.values
    return op.binary(operator, left, op.invert(op.column_of(right, call.rows)))


@kernel(f"{ANY} view")
def is_null(call: Call) -> Any:
    found = plc.unary.is_null(call.value)
    kind = call.given.value_type if _is.is_dictionary(call.given) else call.given
    if not (call.options["nan_is_null"] and _is.is_floating(kind)):
        return found
    call.need(kind_of(call.given) == "float", f"not of type {call.given}, where NaN is null")
    return op.binary("LOGICAL_OR", found, plc.unary.is_nan(call.value))


@kernel(f"{ANY} view")
def true_unless_null(call: Call) -> Any:
    valid = op.is_valid(call.value)
    return op.null_where(op.invert(valid), valid)


@kernel(NUMBERS)
def is_nan(call: Call) -> Any:
    return op.is_nan(call.value)


@kernel(NUMBERS, is_finite=("LESS", "EQUAL"), is_inf=("EQUAL", "NOT_EQUAL"))
def compare_with_infinity(call: Call, operator: str, of_integers: str) -> Any:
    if not _is.is_floating(call.given):
        return op.binary(of_integers, call.value, call.value)
    infinity = op.scalar(float("inf"), call.given)
    return op.binary(operator, op.unary("ABS", call.value), infinity)


def _in_result_type(call: Call, place: int) -> Any:
    """An argument in the type of the result, which numbers of several types have in common."""
    value = call.values[place]
    return (
        cast_without_loss(value, call.types[place], call.type) if _is_number(call.type) else value
    )


def need_no_negative_zero(value: Any) -> None:
    """Refuses a call with floating-point numbers of which one is -0.0."""
    bits = op.keys_of(value)
    is_negative_zero = op.computed(("EQUAL", 0, op.smallest(bits.type().to_arrow())), bits)
    is_there = op.is_anywhere(is_negative_zero)
    need(not is_there, "not with -0.0, whose place counts: add 0.0 to the data, which makes it 0.0")


@kernel("bool", f"{SIMPLE} bits", f"{SIMPLE} bits")
def if_else(call: Call) -> Any:
    mask = call.value
    call.need(isinstance(mask, plc.Column), "not with one condition for all rows")
    _need_common_type(call, call.types[1:])
    result = op.choose(mask, _in_result_type(call, 1), _in_result_type(call, 2))
    return op.null_where(plc.unary.is_null(mask), result) if mask.null_count() else result


def _need_common_type(call: Call, types: list[pa.DataType], alike: frozenset[str] = _BYTES) -> None:
    is_same = all(kind == call.type or _are_one(kind, call.type, alike) for kind in types)
    call.need(is_same or all(map(_is_number, types)), "not with several types")


@kernel(f"{SIMPLE} bits")
def coalesce(call: Call) -> Any:
    # pyarrow takes times of all zones here.
    _need_common_type(call, call.types, _BYTES | {"time"})
    first, *rest = (_in_result_type(call, place) for place in range(len(call.values)))
    return reduce(op.filled, rest, op.column_of(first, call.rows))


@kernel("struct", f"{SIMPLE} bits")
def case_when(call: Call) -> Any:
    _need_common_type(call, call.types[1:])
    structs = call.array(0)
    masks = [structs.field(place) for place in range(structs.type.num_fields)]
    if structs.null_count:
        raise pa.ArrowInvalid("cond struct must not have outer nulls")
    cases = [_in_result_type(call, place) for place in range(1, len(call.values))]
    if len(cases) > len(masks):
        result = op.column_of(cases.pop(), call.rows)
    else:
        result = plc.Column.all_null_like(op.column_of(cases[0], 1), call.rows)
    for mask, case in zip(reversed(masks), reversed(cases), strict=True):
        result = op.choose(to_cudf(mask), case, result)
    return result


@kernel(_WITHOUT_BOOL, fill_null_forward="PRECEDING", fill_null_backward="FOLLOWING")
def fill_null_by_policy(call: Call, policy: str) -> Any:
    return op.filled(call.value, getattr(plc.replace.ReplacePolicy, policy))


#: Rules for nulls in the data, by pyarrow's numbers: nulls match nulls, or are not in the set.
_MATCH, _SKIP = 0, 1


_OTHER_SET = "not with a set of another type"


def host_set(options: dict[str, Any], kind: pa.DataType) -> tuple[Any, bool]:
    """The set of a lookup of values of a type, and whether null is one that counts."""
    behavior, values = options["null_matching_behavior"], options["value_set"]
    need(behavior in (_MATCH, _SKIP), "not with this rule for nulls")
    need(not _is.is_dictionary(values.type), "not with a set that has a dictionary")
    has_null = behavior == _MATCH and values.null_count > 0
    return values if values.type == kind else _converted(values, kind), has_null


def _converted(values: Any, kind: pa.DataType) -> Any:
    """The values of a set in another type, with null for those that it does not have.  pyarrow
    converts the data instead where converting the set loses values."""
    with suppress(pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return values.cast(kind)
    are_wider = _is.is_int64(values.type) and _is.is_integer(kind) and not _is.is_uint64(kind)
    need(are_wider, _OTHER_SET)
    wrapped = values.cast(kind, safe=False)
    return pc.if_else(pc.equal(wrapped.cast(values.type), values), wrapped, None)


def _set_of(call: Call) -> tuple[Any, bool]:
    """The distinct values of the set as a column, and whether null is one that counts."""
    values, has_null = host_set(call.options, call.given)
    return op.keys_of(to_cudf(values)), has_null


@kernel(KEYS)
def is_in(call: Call) -> Any:
    (value,) = call.values
    wanted, has_null = _set_of(call)
    valid = op.valid(wanted)
    if not valid.size():
        found = plc.Column.from_scalar(op.scalar(False), value.size())
    else:
        found = op.filled(plc.search.contains(valid, op.keys_of(value)), op.scalar(False))
    return op.binary("LOGICAL_OR", found, plc.unary.is_null(value)) if has_null else found


@kernel(KEYS)
def index_in(call: Call) -> Any:
    wanted, has_null = _set_of(call)
    found = places_in(wanted, op.keys_of(call.value))
    if not has_null:
        return found
    null = op.scalar(call.options["value_set"].is_null().index(True).as_py(), pa.int32())
    return op.choose(plc.unary.is_null(call.value), null, found)


def places_in(wanted: Any, values: Any) -> Any:
    """The place of each value in a column, or null if it is not there or null itself."""
    ascending, last = [op.Order.ASCENDING], [op.NullOrder.AFTER]
    order = plc.sorting.stable_sorted_order(plc.Table([wanted]), ascending, last)
    in_order = op.gathered(plc.Table([wanted]), order)
    near = op.lower_bound(op.one(in_order), values)
    table = plc.Table([*in_order.columns(), order])
    candidate, place = op.gathered(table, near, may_lack=True).columns()
    is_same = op.filled(op.binary("EQUAL", candidate, values), op.scalar(False))
    return op.null_where(op.invert(is_same), place)
