"""Arithmetic, bits and the functions of numbers."""

from __future__ import annotations

from math import isnan
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pylibcudf as plc  # type: ignore[import-not-found,unused-ignore]

from .. import operations as op
from ..calls import Call
from ..columns import scalar_of
from ..registry import kernel
from ..types import NUMBERS, cudf_type
from .casts import DIGITS, cast_without_loss
from .comparisons import need_no_negative_zero

_is = pa.types
_OVERFLOW = "overflow"


def _raise_if_smallest(call: Call, value: Any) -> None:
    """Raises if an integer has no counterpart of the other sign."""
    is_signed = _is.is_signed_integer(call.type)
    if is_signed and op.is_anywhere(op.binary("EQUAL", value, op.smallest(call.type))):
        raise pa.ArrowInvalid(_OVERFLOW)


def _checked_binary(operator: str, left: Any, right: Any, *, checks: bool) -> Any:
    """The result in the type of the operands; raises if it is checked and has overflowed."""
    result = op.binary(operator, left, right, left.type())
    if checks and not op.exact(operator, left, right, result):
        raise pa.ArrowInvalid(_OVERFLOW)
    return result


def _in_result_type(call: Call) -> list[Any]:
    """The arguments in the type of the result."""
    return [
        cast_without_loss(*each, call.type) for each in zip(call.values, call.types, strict=True)
    ]


_NUMERIC = f"{NUMBERS} decimal time duration"


@kernel(_NUMERIC, add=("ADD", False), subtract=("SUB", False), multiply=("MUL", False))
@kernel(_NUMERIC, add_checked=("ADD", True), subtract_checked=("SUB", True))
@kernel(_NUMERIC, multiply_checked=("MUL", True))
def arithmetic(call: Call, operator: str, checks: bool) -> Any:
    if _is.is_decimal(call.type):
        left, right = (
            op.cast(value, op.WIDE) if _is.is_integer(kind) else value
            for value, kind in zip(call.values, call.types, strict=True)
        )
        return op.binary(operator, left, right, cudf_type(call.type))
    if _is.is_integer(call.type) or _is.is_floating(call.type):
        return _checked_binary(
            operator, *_in_result_type(call), checks=checks and _is.is_integer(call.type)
        )
    # Times in the same unit are added as integers are.
    units = {getattr(kind, "unit", None) for kind in (*call.types, call.type)}
    call.need(len(units) == 1, "not with several units")
    left, right = (op.same_bits(value, op.INT64) for value in call.values)
    return op.same_bits(_checked_binary(operator, left, right, checks=checks), cudf_type(call.type))


@kernel(f"{NUMBERS} decimal", divide=False, divide_checked=True)
def divide(call: Call, checks: bool) -> Any:
    if _is.is_decimal(call.type):
        return _quotient_of_decimals(call)
    left, right = (op.column_of(value, call.rows) for value in _in_result_type(call))
    is_integer = _is.is_integer(call.type)
    if is_integer or checks:
        # A null divided by zero is null.
        zero = ("LOGICAL_AND", ("EQUAL", 1, op.scalar(0, call.type)), ("NOT", ("IS_NULL", 0)))
        if op.is_anywhere(op.computed(zero, left, right)):
            raise pa.ArrowInvalid("divide by zero")
    if _is.is_signed_integer(call.type):
        smallest = "EQUAL", 0, op.smallest(call.type)
        opposite = "EQUAL", 1, op.scalar(-1, call.type)
        if op.is_anywhere(op.computed(("LOGICAL_AND", smallest, opposite), left, right)):
            if checks:
                raise pa.ArrowInvalid(_OVERFLOW)
            call.need(False, "not the smallest number divided by -1")
    return op.binary("DIV", left, right, left.type())


def _quotient_of_decimals(call: Call) -> Any:
    """Truncated to the digits of the result."""
    scales = [getattr(kind, "scale", 0) for kind in call.types]
    scale = call.type.scale + scales[1]
    digits = getattr(call.given, "precision", DIGITS.get(call.given))
    call.need(digits + scale - scales[0] <= 38, "not with so many digits")
    left, right = call.columns
    zero = op.binary("EQUAL", right, op.cast(op.scalar(0, pa.int32()), right.type()))
    if op.is_anywhere(op.binary("LOGICAL_AND", zero, op.is_valid(left))):
        raise pa.ArrowInvalid("Divide by zero")
    left = cast_without_loss(left, call.given, pa.decimal128(38, scale))
    right = cast_without_loss(right, call.types[1], pa.decimal128(38, scales[1]))
    return op.binary("DIV", left, right, cudf_type(call.type))


@kernel("float", power="POW", power_checked="POW")
@kernel(NUMBERS, atan2="ATAN2")
@kernel("int", bit_wise_and="BITWISE_AND", bit_wise_or="BITWISE_OR", bit_wise_xor="BITWISE_XOR")
def binary_of_one_type(call: Call, operator: str) -> Any:
    left, right = _in_result_type(call)
    return op.binary(operator, left, right, left.type())


@kernel("int", shift_left=("SHIFT_LEFT", False), shift_left_checked=("SHIFT_LEFT", True))
@kernel("int", shift_right=("SHIFT_RIGHT", False), shift_right_checked=("SHIFT_RIGHT", True))
def shift(call: Call, operator: str, checks: bool) -> Any:
    left, right = (op.column_of(value, call.rows) for value in _in_result_type(call))
    digits = call.type.bit_width - _is.is_signed_integer(call.type)
    is_within = op.binary("LESS", right, op.scalar(digits, call.type))
    is_positive = op.binary("GREATER_EQUAL", right, op.scalar(0, call.type))
    is_right = op.binary("LOGICAL_AND", is_within, is_positive)
    if checks:
        wrong = op.binary("LOGICAL_AND", op.invert(is_right), op.is_valid(left))
        if op.is_anywhere(wrong):
            raise pa.ArrowInvalid("shift amount must be >= 0 and less than precision of type")
    # By other numbers of bits, pyarrow does not shift.
    bits = op.choose(is_right, right, op.scalar(0, call.type))
    bits = op.null_where(plc.unary.is_null(right), bits) if right.null_count() else bits
    return op.binary(operator, left, bits, left.type())


@kernel(f"{NUMBERS} decimal", abs=("ABS", False), abs_checked=("ABS", True))
def absolute(call: Call, operator: str, checks: bool) -> Any:
    if checks:
        _raise_if_smallest(call, call.value)
    return call.value if _is.is_unsigned_integer(call.type) else op.unary(operator, call.value)


@kernel(f"{NUMBERS} decimal duration", negate=False, negate_checked=True)
def negate(call: Call, checks: bool) -> Any:
    value = call.value
    if _is.is_floating(call.type):
        return op.unary("NEGATE", value)
    if checks:
        _raise_if_smallest(call, value)
    if _is.is_duration(call.type):
        value = op.same_bits(value, op.INT64)
    zero = op.cast(op.scalar(0), value.type())
    return op.same_bits(op.binary("SUB", zero, value, value.type()), cudf_type(call.type))


@kernel(f"{NUMBERS} decimal")
def sign(call: Call) -> Any:
    (value,) = call.values
    if _is.is_decimal(call.given):
        value = op.unscaled(value)
    zero = op.cast(op.scalar(0), value.type())
    kind = cudf_type(call.type)
    is_positive = op.cast(op.binary("GREATER", value, zero), kind)
    is_negative = op.cast(op.binary("LESS", value, zero), kind)
    result = op.binary("SUB", is_positive, is_negative, kind)
    return op.choose(op.is_nan(value), value, result) if _is.is_floating(call.given) else result


#: The domains of functions that check their argument: the comparison with the lower end, that end,
#: both for the upper end, and pyarrow's error outside.
_INFINITE = float("inf")
_DOMAIN = "domain error"
_CLOSED_UNIT = ("GREATER_EQUAL", -1.0, "LESS_EQUAL", 1.0, _DOMAIN)
_OPEN_UNIT = ("GREATER", -1.0, "LESS", 1.0, _DOMAIN)
_FINITE = ("GREATER", -_INFINITE, "LESS", _INFINITE, _DOMAIN)
_FROM_ONE = ("GREATER_EQUAL", 1.0, "LESS_EQUAL", _INFINITE, _DOMAIN)
_NOT_NEGATIVE = ("GREATER_EQUAL", 0.0, "LESS_EQUAL", _INFINITE, "square root of negative number")
_POSITIVE = ("GREATER", 0.0, "LESS_EQUAL", _INFINITE, "logarithm of zero or a negative number")


@kernel(NUMBERS, sin="SIN", cos="COS", tan="TAN", asin="ARCSIN", acos="ARCCOS", atan="ARCTAN")
@kernel(NUMBERS, sinh="SINH", cosh="COSH", tanh="TANH", asinh="ARCSINH", acosh="ARCCOSH")
@kernel(NUMBERS, atanh="ARCTANH", exp="EXP", sqrt="SQRT", ln="LOG")
@kernel(
    NUMBERS,
    sin_checked=("SIN", _FINITE),
    cos_checked=("COS", _FINITE),
    tan_checked=("TAN", _FINITE),
    asin_checked=("ARCSIN", _CLOSED_UNIT),
    acos_checked=("ARCCOS", _CLOSED_UNIT),
    acosh_checked=("ARCCOSH", _FROM_ONE),
    atanh_checked=("ARCTANH", _OPEN_UNIT),
    sqrt_checked=("SQRT", _NOT_NEGATIVE),
    ln_checked=("LOG", _POSITIVE),
)
def unary_math(call: Call, operator: str, domain: Any = None) -> Any:
    (value,) = _in_result_type(call)
    if domain is not None:
        lower_test, lowest, upper_test, highest, error = domain
        is_above = lower_test, 0, op.scalar(lowest, call.type)
        is_below = upper_test, 0, op.scalar(highest, call.type)
        # NaN passes every check.
        passes = "LOGICAL_OR", ("LOGICAL_AND", is_above, is_below), ("NOT_EQUAL", 0, 0)
        if not op.is_everywhere(op.computed(passes, value)):
            raise pa.ArrowInvalid(error)
    return op.unary(operator, value)


@kernel("int", cumulative_sum_checked=("sum", True))
@kernel(NUMBERS, cumulative_sum="sum", cumulative_prod="product")
@kernel(NUMBERS, cumulative_min="min", cumulative_max="max")
def cumulative(call: Call, aggregation: str, checks: bool = False) -> Any:
    start = call.options["start"]
    first = None if start is None else scalar_of(pa.scalar(start).cast(call.type))
    value = call.value
    if aggregation in _BOUNDS and _is.is_floating(call.type):
        need_no_negative_zero(value)
        call.need(not _is_nan_or_negative_zero(start), "not with such a start")
        value = op.choose(op.is_nan(value), op.scalar(_BOUNDS[aggregation], call.type), value)
        first = op.scalar(_usual_start(call.name, call.type), call.type) if first is None else first
    result = _scan(call, value, aggregation)
    if start is not None and _is.is_floating(call.type):
        # What was too large or small without the start does not come back with it.
        is_exact = aggregation != "product" and op.are_finite(result)
        call.need(aggregation in _BOUNDS or is_exact, "not with a start")
    result = _with_start(result, first, aggregation)
    if checks:
        wide = _scan(call, op.cast(value, op.WIDE), aggregation)
        wide = _with_start(wide, first and op.cast(first, op.WIDE), aggregation)
        if op.is_anywhere(op.binary("NOT_EQUAL", wide, op.cast(result, op.WIDE))):
            raise pa.ArrowInvalid(_OVERFLOW)
    return result


#: By running aggregate: the value that changes no other, which NaN counts as.
_BOUNDS = {"min": _INFINITE, "max": -_INFINITE}
_WITH_START = {"sum": "ADD", "product": "MUL", "min": "LESS", "max": "GREATER"}


def _usual_start(name: str, kind: pa.DataType) -> Any:
    """What pyarrow starts with, which is not infinite in older ones."""
    return getattr(pc, name)(pa.array([float("nan")], kind))[0].as_py()


def _is_nan_or_negative_zero(start: Any) -> bool:
    return isinstance(start, float) and (isnan(start) or str(start) == "-0.0")


def _with_start(running: Any, first: Any, aggregation: str) -> Any:
    if first is None:
        return running
    operator = _WITH_START[aggregation]
    if aggregation in _BOUNDS:
        return op.choose(op.binary(operator, first, running), first, running)
    return op.binary(operator, running, first, running.type())


@kernel(NUMBERS)
def cumulative_mean(call: Call) -> Any:
    counts = _scan(call, op.cast(op.is_valid(call.value), op.FLOAT64), "sum")
    sums = _scan(call, op.cast(call.value, op.FLOAT64), "sum")
    return op.binary("DIV", sums, counts, op.FLOAT64)


def _scan(call: Call, value: Any, aggregation: str) -> Any:
    """A running aggregate.  It is null where the value is null; if nulls are not skipped, also
    everywhere after."""
    scan = getattr(plc.aggregation, aggregation)()
    result = plc.reduce.scan(value, scan, plc.reduce.ScanType.INCLUSIVE)
    if call.options["skip_nulls"] or not value.null_count():
        return result
    nulls = op.places(plc.unary.is_null(value))
    first = plc.copying.get_element(nulls, 0)
    return op.null_where(op.binary("GREATER_EQUAL", op.counter(value.size()), first), result)


@kernel(NUMBERS, pairwise_diff=False, pairwise_diff_checked=True)
def pairwise_diff(call: Call, checks: bool) -> Any:
    (value,) = _in_result_type(call)
    periods = call.options["periods"]
    call.need(abs(periods) < 2**31, "not over so many rows")
    nothing = plc.Column.all_null_like(value, 1).to_scalar()
    shifted = plc.copying.shift(value, periods, nothing)
    return _checked_binary("SUB", value, shifted, checks=checks and _is.is_integer(call.type))
