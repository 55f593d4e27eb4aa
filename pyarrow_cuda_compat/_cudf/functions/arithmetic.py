"""Arithmetic, rounding, bits and the functions of numbers."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pylibcudf as plc  # type: ignore[import-not-found,unused-ignore]

from .. import operations as op
from ..calls import Call
from ..kinds import NUMBERS, cudf_type
from ..registry import rows
from .casts import without_loss

_is = pa.types
_OVERFLOW = "overflow"


def _refuse_smallest(call: Call, value: Any) -> None:
    """Raises if an integer has no counterpart of the other sign."""
    is_signed = _is.is_signed_integer(call.type)
    if is_signed and op.is_anywhere(op.binary("EQUAL", value, op.smallest(call.type))):
        raise pa.ArrowInvalid(_OVERFLOW)


def _computed(operator: str, left: Any, right: Any, *, checks: bool) -> Any:
    """The result in the type of the operands; raises if it is checked and has overflowed."""
    result = op.binary(operator, left, right, left.type())
    if checks and not op.exact(operator, left, right, result):
        raise pa.ArrowInvalid(_OVERFLOW)
    return result


def _as_result(call: Call) -> list[Any]:
    """The arguments in the type of the result."""
    return [without_loss(*each, call.type) for each in zip(call.values, call.types, strict=True)]


_SUMMABLE = f"{NUMBERS} decimal time duration"


@rows(_SUMMABLE, add=("ADD", False), subtract=("SUB", False), multiply=("MUL", False))
@rows(_SUMMABLE, add_checked=("ADD", True), subtract_checked=("SUB", True))
@rows(_SUMMABLE, multiply_checked=("MUL", True))
def arithmetic(call: Call, operator: str, checks: bool) -> Any:
    kinds = [kind for kind in call.types if not (_is.is_integer(kind) or _is.is_floating(kind))]
    if not kinds:
        return _computed(operator, *_as_result(call), checks=checks and _is.is_integer(call.type))
    call.need(len(kinds) == 2, "not with numbers of both kinds")
    if _is.is_decimal(call.type):
        return op.binary(operator, call.value, call.values[1], cudf_type(call.type))
    # Times in the same unit are added as integers are.
    call.need(len({kind.unit for kind in (*kinds, call.type)}) == 1, "not with several units")
    left, right = (op.same_bits(value, op.INT64) for value in call.values)
    return op.same_bits(_computed(operator, left, right, checks=checks), cudf_type(call.type))


@rows(NUMBERS, divide=False, divide_checked=True)
def divide(call: Call, checks: bool) -> Any:
    left, right = (op.column_of(value, call.rows) for value in _as_result(call))
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


@rows("float", power="POW", power_checked="POW")
@rows(NUMBERS, atan2="ATAN2")
@rows("int", bit_wise_and="BITWISE_AND", bit_wise_or="BITWISE_OR", bit_wise_xor="BITWISE_XOR")
def binary(call: Call, operator: str) -> Any:
    left, right = _as_result(call)
    return op.binary(operator, left, right, left.type())


@rows(NUMBERS, abs=("ABS", False), abs_checked=("ABS", True))
def absolute(call: Call, operator: str, checks: bool) -> Any:
    if checks:
        _refuse_smallest(call, call.value)
    return call.value if _is.is_unsigned_integer(call.type) else op.unary(operator, call.value)


@rows(f"{NUMBERS} duration", negate=False, negate_checked=True)
def negate(call: Call, checks: bool) -> Any:
    value = call.value
    if _is.is_floating(call.type):
        return op.unary("NEGATE", value)
    if checks:
        _refuse_smallest(call, value)
    if _is.is_duration(call.type):
        value = op.same_bits(value, op.INT64)
    zero = op.cast(op.scalar(0), value.type())
    return op.same_bits(op.binary("SUB", zero, value, value.type()), cudf_type(call.type))


@rows(NUMBERS)
def sign(call: Call) -> Any:
    (value,) = call.values
    zero = op.cast(op.scalar(0), value.type())
    kind = cudf_type(call.type)
    above = op.cast(op.binary("GREATER", value, zero), kind)
    below = op.cast(op.binary("LESS", value, zero), kind)
    result = op.binary("SUB", above, below, kind)
    return op.choose(op.is_nan(value), value, result) if _is.is_floating(call.given) else result


#: The range in which a function that checks its argument has a result, with a word on each end, and
#: what pyarrow says outside of it.
_INFINITE = float("inf")
_DOMAIN = "domain error"
_INSIDE = ("GREATER_EQUAL", -1.0, "LESS_EQUAL", 1.0, _DOMAIN)
_OPEN = ("GREATER", -1.0, "LESS", 1.0, _DOMAIN)
_FINITE = ("GREATER", -_INFINITE, "LESS", _INFINITE, _DOMAIN)
_FROM_ONE = ("GREATER_EQUAL", 1.0, "LESS_EQUAL", _INFINITE, _DOMAIN)
_ROOTS = ("GREATER_EQUAL", 0.0, "LESS_EQUAL", _INFINITE, "square root of negative number")
_LOGARITHMS = ("GREATER", 0.0, "LESS_EQUAL", _INFINITE, "logarithm of zero or a negative number")


@rows(NUMBERS, sin="SIN", cos="COS", tan="TAN", asin="ARCSIN", acos="ARCCOS", atan="ARCTAN")
@rows(NUMBERS, sinh="SINH", cosh="COSH", tanh="TANH", asinh="ARCSINH", acosh="ARCCOSH")
@rows(NUMBERS, atanh="ARCTANH", exp="EXP", sqrt="SQRT", ln="LOG")
@rows(
    NUMBERS,
    sin_checked=("SIN", _FINITE),
    cos_checked=("COS", _FINITE),
    tan_checked=("TAN", _FINITE),
    asin_checked=("ARCSIN", _INSIDE),
    acos_checked=("ARCCOS", _INSIDE),
    acosh_checked=("ARCCOSH", _FROM_ONE),
    atanh_checked=("ARCTANH", _OPEN),
    sqrt_checked=("SQRT", _ROOTS),
    ln_checked=("LOG", _LOGARITHMS),
)
def of_numbers(call: Call, operator: str, inside: Any = None) -> Any:
    (value,) = _as_result(call)
    if inside is not None:
        above, lowest, below, highest, error = inside
        is_low = above, 0, op.scalar(lowest, call.type)
        is_high = below, 0, op.scalar(highest, call.type)
        # NaN passes every check.
        passes = "LOGICAL_OR", ("LOGICAL_AND", is_low, is_high), ("NOT_EQUAL", 0, 0)
        if not op.is_everywhere(op.computed(passes, value)):
            raise pa.ArrowInvalid(error)
    return op.unary(operator, value)


@rows(NUMBERS, floor=0, ceil=1, trunc=2)
def rounded(call: Call, mode: int) -> Any:
    (value,) = _as_result(call)
    return _rounded(value, mode, call.type) if _is.is_floating(call.given) else value


#: Modes of rounding, by pyarrow's numbers: down, up, towards zero, towards infinity, half to even.
_MODES = (0, 1, 2, 3, 8)


def _rounded(value: Any, mode: int, kind: pa.DataType) -> Any:
    if mode in (2, 3):
        is_negative = op.binary("LESS", value, op.scalar(0, kind))
        below, above = op.unary("FLOOR", value), op.unary("CEIL", value)
        return op.choose(is_negative, *((above, below) if mode == 2 else (below, above)))
    return op.unary({0: "FLOOR", 1: "CEIL", 8: "RINT"}[mode], value)


@rows(NUMBERS, round_=())
def round_to_digits(call: Call) -> Any:
    digits, mode, value = call.options["ndigits"], call.options["round_mode"], call.value
    if not _is.is_floating(call.given):
        call.need(digits >= 0, "not integers to tens")
        return _as_result(call)[0]
    call.need(mode in _MODES, "not with this mode")
    # pyarrow's larger powers of ten have the digits of single precision.
    call.need(abs(digits) <= 10, "not to so many digits")
    factor = op.scalar(float(10 ** abs(digits)), call.type)
    kind = value.type()
    there, back = ("MUL", "DIV") if digits >= 0 else ("DIV", "MUL")
    scaled = op.binary(there, value, factor, kind)
    whole = op.binary("EQUAL", op.unary("FLOOR", scaled), scaled)
    infinity = op.scalar(_INFINITE, call.type)
    becomes_infinite = ("EQUAL", ("ABS", 1), infinity), ("LESS", ("ABS", 0), infinity)
    call.need(
        not op.is_anywhere(op.computed(("LOGICAL_AND", *becomes_infinite), value, scaled)),
        "not numbers that are too large for so many digits",
    )
    result = op.binary(back, _rounded(scaled, mode, call.type), factor, kind)
    return op.choose(whole, value, result)


@rows("int", cumulative_min="min", cumulative_max="max", cumulative_sum_checked=("sum", True))
@rows(NUMBERS, cumulative_sum="sum", cumulative_prod="product")
def cumulative(call: Call, aggregation: str, checks: bool = False) -> Any:
    result = _scanned(call, call.value, aggregation)
    if checks:
        wide = _scanned(call, op.cast(call.value, op.WIDE), aggregation)
        if op.is_anywhere(op.binary("NOT_EQUAL", wide, op.cast(result, op.WIDE))):
            raise pa.ArrowInvalid(_OVERFLOW)
    return result


@rows(NUMBERS)
def cumulative_mean(call: Call) -> Any:
    counts = _scanned(call, op.cast(op.is_valid(call.value), op.FLOAT64), "sum")
    sums = _scanned(call, op.cast(call.value, op.FLOAT64), "sum")
    return op.binary("DIV", sums, counts, op.FLOAT64)


def _scanned(call: Call, value: Any, aggregation: str) -> Any:
    """Null where the value is, or from its first null on if nulls are not skipped."""
    call.need(call.options["start"] is None, "not with a start")
    scan = getattr(plc.aggregation, aggregation)()
    result = plc.reduce.scan(value, scan, plc.reduce.ScanType.INCLUSIVE)
    if call.options["skip_nulls"] or not value.null_count():
        return result
    nulls = op.places(plc.unary.is_null(value))
    first = plc.copying.get_element(nulls, 0)
    return op.null_where(op.binary("GREATER_EQUAL", op.counter(value.size()), first), result)


@rows(NUMBERS, pairwise_diff=False, pairwise_diff_checked=True)
def pairwise_diff(call: Call, checks: bool) -> Any:
    (value,) = _as_result(call)
    periods = call.options["periods"]
    call.need(abs(periods) < 2**31, "not over so many rows")
    nothing = plc.Column.all_null_like(value, 1).to_scalar()
    before = plc.copying.shift(value, periods, nothing)
    return _computed("SUB", value, before, checks=checks and _is.is_integer(call.type))
