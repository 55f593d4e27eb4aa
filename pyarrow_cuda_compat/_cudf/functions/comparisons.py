"""Comparisons, logic, nulls, choices between values, and lookups in sets."""

from __future__ import annotations

from functools import reduce
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
from ..types import ANY, BYTES, KEYS, NUMBERS, SIMPLE, TIMES, cudf_type, kind_of
from .casts import cast_without_loss

_is = pa.types
#: libcudf mixes up the nulls of slices of booleans in some of its functions.
_WITHOUT_BOOL = f"{SIMPLE} bits".removeprefix("bool ")


def _is_number(kind: pa.DataType) -> bool:
    return kind_of(kind) in ("int", "float", "decimal")


def _are_alike(left: pa.DataType, right: pa.DataType) -> bool:
    """Whether libcudf has both types as one: strings and bytes, or times of several zones."""
    is_alike = cudf_type(left) == cudf_type(right)
    names = {kind_of(left), kind_of(right)}
    return is_alike and (names <= _BYTES or names <= {"time", "zoned"})


_BYTES = frozenset(BYTES.split())
_common_types = Cache(256)


def _common_type(left: pa.DataType, right: pa.DataType) -> pa.DataType:
    """The type in which pyarrow compares numbers: that of their sum, but for decimals."""
    if any(map(_is.is_decimal, (left, right))):
        if any(map(_is.is_floating, (left, right))):
            return pa.float64()
        return pa.decimal128(38, max(getattr(it, "scale", 0) for it in (left, right)))
    return _common_types.get(
        lambda: pc.add(pa.array([], left), pa.array([], right)).type, left, right
    )


def _in_common_type(call: Call) -> list[Any]:
    left, right = call.types
    if left == right:
        return call.values
    if _are_alike(left, right):
        return call.values
    call.need(_is_number(left) and _is_number(right), "not with several types")
    kind = _common_type(left, right)
    return [cast_without_loss(*each, kind) for each in zip(call.values, call.types, strict=True)]


@kernel(f"{KEYS} view", equal="EQUAL", not_equal="NOT_EQUAL")
@kernel(f"{SIMPLE} view dictionary", less="LESS", less_equal="LESS_EQUAL")
@kernel(f"{SIMPLE} view dictionary", greater="GREATER", greater_equal="GREATER_EQUAL")
@kernel("bool", and_="LOGICAL_AND", or_="LOGICAL_OR", xor="NOT_EQUAL")
@kernel("bool", and_kleene="NULL_LOGICAL_AND", or_kleene="NULL_LOGICAL_OR")
def comparison_or_logic(call: Call, operator: str) -> Any:
    return op.binary(operator, *_in_common_type(call))


@kernel(
    f"bool int {TIMES}",
    of_one_type=True,
    max_element_wise=("GREATER", "NULL_MAX"),
    min_element_wise=("LESS", "NULL_MIN"),
)
def min_or_max_element_wise(call: Call, operator: str, null_operator: str) -> Any:
    kind = cudf_type(call.type)
    values = [op.column_of(value, call.rows) for value in call.values]
    if call.options["skip_nulls"]:
        return reduce(lambda one, other: op.binary(null_operator, one, other, kind), values)

    def pick(one: Any, other: Any) -> Any:
        is_first = op.binary(operator, one, other)
        return op.null_where(plc.unary.is_null(is_first), op.choose(is_first, one, other))

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
    is_negative_zero = op.binary("EQUAL", bits, op.smallest(bits.type().to_arrow()))
    need(not op.is_anywhere(is_negative_zero), "not with -0.0")


@kernel("bool", f"{SIMPLE} bits", f"{SIMPLE} bits")
def if_else(call: Call) -> Any:
    mask = call.value
    call.need(isinstance(mask, plc.Column), "not with one condition for all rows")
    _need_common_type(call, call.types[1:])
    result = op.choose(mask, _in_result_type(call, 1), _in_result_type(call, 2))
    return op.null_where(plc.unary.is_null(mask), result) if mask.null_count() else result


def _need_common_type(call: Call, types: list[pa.DataType]) -> None:
    is_same = all(kind == call.type or _are_alike(kind, call.type) for kind in types)
    call.need(is_same or all(map(_is_number, types)), "not with several types")


@kernel(f"{SIMPLE} bits")
def coalesce(call: Call) -> Any:
    _need_common_type(call, call.types)
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


def _set_of(call: Call) -> tuple[Any, bool]:
    """The distinct values of the set as a column, and whether null is one that counts."""
    behavior, values = call.options["null_matching_behavior"], call.options["value_set"]
    call.need(behavior in (_MATCH, _SKIP), "not with this rule for nulls")
    call.need(values.type == call.given, "not with a set of another type")
    return op.keys_of(to_cudf(values)), behavior == _MATCH and values.null_count > 0


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
    needles = plc.Table([values])
    near = plc.search.lower_bound(in_order, needles, ascending, last)
    table = plc.Table([*in_order.columns(), order])
    candidate, place = op.gathered(table, near, may_lack=True).columns()
    is_same = op.filled(op.binary("EQUAL", candidate, values), op.scalar(False))
    return op.null_where(op.invert(is_same), place)
