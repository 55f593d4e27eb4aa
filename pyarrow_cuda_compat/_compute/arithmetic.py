"""Arithmetic, rounding, bits and the functions of numbers."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pylibcudf as plc  # type: ignore[import-not-found,unused-ignore]

from . import operations as op
from .calls import Call
from .casts import without_loss
from .kinds import NUMBERS, cudf_type
from .table import rows

_is = pa.types
_OVERFLOW = "overflow"
#: Whether times are counted in the same unit, which makes their arithmetic that of integers.
_UNITLESS = "not with several units"


def _as_result(call: Call) -> list[Any]:
    """The arguments in the type of the result."""
    return [without_loss(*each, call.type) for each in zip(call.values, call.types, strict=True)]


@rows(
    f"{NUMBERS} decimal time duration",
    add=("ADD", False),
    add_checked=("ADD", True),
    subtract=("SUB", False),
    subtract_checked=("SUB", True),
    multiply=("MUL", False),
    multiply_checked=("MUL", True),
)
def arithmetic(call: Call, operator: str, checks: bool) -> Any:
    kinds = [kind for kind in call.types if not (_is.is_integer(kind) or _is.is_floating(kind))]
    if not kinds:
        left, right = _as_result(call)
        result = op.binary(operator, left, right, left.type())
        if checks and _is.is_integer(call.type) and not op.exact(operator, left, right, result):
            raise pa.ArrowInvalid(_OVERFLOW)
        return result
    call.need(len(kinds) == 2, "not with numbers of both kinds")
    if _is.is_decimal(call.type):
        return op.binary(operator, call.values[0], call.values[1], cudf_type(call.type))
    units = {kind.unit for kind in (*kinds, call.type)}
    call.need(len(units) == 1, _UNITLESS)
    left, right = (op.same_bits(value, op.INT64) for value in call.values)
    result = op.binary(operator, left, right, op.INT64)
    if checks and not op.exact(operator, left, right, result):
        raise pa.ArrowInvalid(_OVERFLOW)
    return op.same_bits(result, cudf_type(call.type))


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
        smallest = op.scalar(-(2 ** (call.type.bit_width - 1)), call.type)
        opposite = "EQUAL", 1, op.scalar(-1, call.type)
        overflows = op.computed(("LOGICAL_AND", ("EQUAL", 0, smallest), opposite), left, right)
        if op.is_anywhere(overflows):
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
    (value,) = call.values
    if checks:
        _refuse_smallest(call, value)
    return value if _is.is_unsigned_integer(call.type) else op.unary(operator, value)


@rows(f"{NUMBERS} duration", negate=False, negate_checked=True)
def negate(call: Call, checks: bool) -> Any:
    (value,) = call.values
    if _is.is_floating(call.type):
        return op.unary("NEGATE", value)
    if checks and not _is.is_duration(call.type):
        _refuse_smallest(call, value)
    if _is.is_duration(call.type):
        value = op.same_bits(value, op.INT64)
    zero = op.cast(op.scalar(0), value.type())
    return op.same_bits(op.binary("SUB", zero, value, value.type()), cudf_type(call.type))


def _refuse_smallest(call: Call, value: Any) -> None:
    """Raises if an integer has no counterpart of the other sign."""
    if _is.is_signed_integer(call.type):
        smallest = op.scalar(-(2 ** (call.type.bit_width - 1)), call.type)
        if op.is_anywhere(op.binary("EQUAL", value, smallest)):
            raise pa.ArrowInvalid(_OVERFLOW)


@rows(NUMBERS)
def sign(call: Call) -> Any:
    (value,) = call.values
    zero = op.cast(op.scalar(0), value.type())
    kind = cudf_type(call.type)
    above = op.cast(op.binary("GREATER", value, zero), kind)
    below = op.cast(op.binary("LESS", value, zero), kind)
    result = op.binary("SUB", above, below, kind)
    return op.choose(op.is_nan(value), value, result) if _is.is_floating(call.types[0]) else result


#: By name: libcudf's operation and, for functions that check their argument, the range that has a
#: result, with a word on each end and what pyarrow says outside of it.
_INSIDE = ("GREATER_EQUAL", -1.0, "LESS_EQUAL", 1.0)
_OPEN = ("GREATER", -1.0, "LESS", 1.0)
_FINITE = ("GREATER", float("-inf"), "LESS", float("inf"))
_INFINITE = float("inf")
_DOMAIN = "domain error"


@rows(
    NUMBERS,
    sin="SIN",
    sin_checked=("SIN", _FINITE, _DOMAIN),
    cos="COS",
    cos_checked=("COS", _FINITE, _DOMAIN),
    tan="TAN",
    tan_checked=("TAN", _FINITE, _DOMAIN),
    asin="ARCSIN",
    asin_checked=("ARCSIN", _INSIDE, _DOMAIN),
    acos="ARCCOS",
    acos_checked=("ARCCOS", _INSIDE, _DOMAIN),
    atan="ARCTAN",
    sinh="SINH",
    cosh="COSH",
    tanh="TANH",
    asinh="ARCSINH",
    acosh="ARCCOSH",
    acosh_checked=("ARCCOSH", ("GREATER_EQUAL", 1.0, "LESS_EQUAL", _INFINITE), _DOMAIN),
    atanh="ARCTANH",
    atanh_checked=("ARCTANH", _OPEN, _DOMAIN),
    exp="EXP",
    sqrt="SQRT",
    sqrt_checked=(
        "SQRT",
        ("GREATER_EQUAL", 0.0, "LESS_EQUAL", _INFINITE),
        "square root of negative number",
    ),
    ln="LOG",
    ln_checked=(
        "LOG",
        ("GREATER", 0.0, "LESS_EQUAL", _INFINITE),
        "logarithm of zero or a negative number",
    ),
)
def of_numbers(call: Call, operator: str, inside: Any = None, error: str = "") -> Any:
    (value,) = _as_result(call)
    if inside is not None:
        above, lowest, below, highest = inside
        is_low = above, 0, op.scalar(lowest, call.type)
        is_high = below, 0, op.scalar(highest, call.type)
        # NaN passes every check.
        passes = "LOGICAL_OR", ("LOGICAL_AND", is_low, is_high), ("NOT_EQUAL", 0, 0)
        if not op.is_everywhere(op.computed(passes, value)):
            raise pa.ArrowInvalid(error)
    return op.unary(operator, value)


@rows(NUMBERS, floor=0, ceil=1, trunc=2)
def rounded(call: Call, mode: int) -> Any:
    (value,) = call.values
    if not _is.is_floating(call.types[0]):
        return _as_result(call)[0]
    return _rounded(value, mode, call.type)


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
    digits, mode = call.options["ndigits"], call.options["round_mode"]
    (value,) = call.values
    if not _is.is_floating(call.types[0]):
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


@rows("int", cumulative_min="min", cumulative_max="max")
@rows(NUMBERS, cumulative_sum="sum", cumulative_prod="product")
def cumulative(call: Call, aggregation: str) -> Any:
    (value,) = call.values
    call.need(_has_no_start(call.options), "not with a start")
    result = _scanned(value, aggregation)
    return result if call.options["skip_nulls"] else _null_behind_first(value, result)


@rows("int", cumulative_sum_checked="sum")
def cumulative_checked(call: Call, aggregation: str) -> Any:
    (value,) = call.values
    call.need(_has_no_start(call.options), "not with a start")
    result = _scanned(value, aggregation)
    wide = _scanned(op.cast(value, op.WIDE), aggregation)
    if not call.options["skip_nulls"]:
        result, wide = (_null_behind_first(value, each) for each in (result, wide))
    if op.is_anywhere(op.binary("NOT_EQUAL", wide, op.cast(result, op.WIDE))):
        raise pa.ArrowInvalid(_OVERFLOW)
    return result


@rows(NUMBERS)
def cumulative_mean(call: Call) -> Any:
    call.need(_has_no_start(call.options), "not with a start")
    (value,) = call.values
    counts = _scanned(op.cast(op.is_valid(value), op.FLOAT64), "sum")
    sums = _scanned(op.cast(value, op.FLOAT64), "sum")
    result = op.binary("DIV", sums, counts, op.FLOAT64)
    return result if call.options["skip_nulls"] else _null_behind_first(value, result)


def _has_no_start(options: dict[str, Any]) -> bool:
    return options["start"] is None


def _scanned(value: Any, aggregation: str) -> Any:
    scan = getattr(plc.aggregation, aggregation)()
    return plc.reduce.scan(value, scan, plc.reduce.ScanType.INCLUSIVE)


def _null_behind_first(value: Any, result: Any) -> Any:
    """Null from the first null of a column on."""
    if not value.null_count():
        return result
    nulls = op.places(plc.unary.is_null(value))
    first = plc.copying.get_element(nulls, 0)
    return op.null_where(op.binary("GREATER_EQUAL", op.counter(value.size()), first), result)


@rows("int float", pairwise_diff=False, pairwise_diff_checked=True)
def pairwise_diff(call: Call, checks: bool) -> Any:
    (value,) = _as_result(call)
    periods = call.options["periods"]
    call.need(abs(periods) < 2**31, "not over so many rows")
    nothing = plc.Column.all_null_like(value, 1).to_scalar()
    before = plc.copying.shift(value, periods, nothing)
    result = op.binary("SUB", value, before, value.type())
    if checks and _is.is_integer(call.type) and not op.exact("SUB", value, before, result):
        raise pa.ArrowInvalid(_OVERFLOW)
    return result
