"""Numbers that are rounded."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from .. import operations as op
from ..calls import Call
from ..registry import kernel
from ..types import NUMBERS, cudf_type
from .casts import cast_without_loss

_is = pa.types
_INFINITE = float("inf")
_WAYS = ("DOWN", "UP", "TOWARDS_ZERO", "TOWARDS_INFINITY")
#: The modes of rounding, by pyarrow's numbers.
_MODES = (*_WAYS, *(f"HALF_{it}" for it in (*_WAYS, "TO_EVEN", "TO_ODD")))


_TIE = pa.scalar(Decimal("-2.5"))
#: Older pyarrows round some negative ties to even digits.
_ROUNDS_TO_ODD = pc.round(_TIE, round_mode="half_to_odd").as_py() == -3


@kernel(f"{NUMBERS} decimal", floor="DOWN", ceil="UP", trunc="TOWARDS_ZERO")
def round_to_integer(call: Call, mode: str) -> Any:
    if _is.is_decimal(call.given):
        return _round_decimals(call, 0, mode)
    value = cast_without_loss(call.value, call.given, call.type)
    return _to_integer(value, mode) if _is.is_floating(call.given) else value


@kernel(f"{NUMBERS} decimal", round_=())
def round_to_digits(call: Call) -> Any:
    digits, mode = call.options["ndigits"], _MODES[call.options["round_mode"]]
    if _is.is_floating(call.given):
        return _round_floats(call, digits, mode)
    if _is.is_decimal(call.given):
        return _round_decimals(call, digits, mode)
    return _round_integers(call, digits, mode) if digits < 0 else call.value


def _round_integers(call: Call, digits: int, mode: str) -> Any:
    wide = _to_multiple(op.cast(call.value, op.WIDE), 10**-digits, mode)
    result = op.cast(wide, cudf_type(call.type))
    same = op.binary("EQUAL", op.cast(result, op.WIDE), wide)
    call.need(op.is_everywhere(same), "not of integers whose result the type does not have")
    return result


def _round_decimals(call: Call, digits: int, mode: str) -> Any:
    value, kind = call.value, call.type
    call.need(mode != "HALF_TO_ODD" or _ROUNDS_TO_ODD, "not with this mode in this pyarrow")
    dropped = kind.scale - digits
    if dropped <= 0 or value.null_count() == value.size():
        return value
    if dropped >= kind.precision:
        text = f"Rounding to {digits} digits will not fit in precision of {kind}"
        raise pa.ArrowInvalid(text)
    result = _to_multiple(op.unscaled(value), 10**dropped, mode)
    most = 10**kind.precision - 1
    if not op.are_within(result, most):
        _raise_for_digits(result, most, kind)
    return op.scaled(result, cudf_type(kind))


def _raise_for_digits(integers: Any, most: int, kind: pa.DataType) -> None:
    is_larger = op.binary("GREATER", op.unary("ABS", integers), op.wide(most))
    number = op.integer_of(op.first_where(is_larger, integers)) or 0
    shown = Decimal((number < 0, tuple(map(int, str(abs(number)))), -kind.scale))
    raise pa.ArrowInvalid(f"Rounded value {shown} does not fit in precision of {kind}")


def _to_multiple(value: Any, unit: int, mode: str) -> Any:
    """Integers of 128 bits as multiples of a unit."""
    factor, zero = op.wide(unit), op.wide(0)
    quotient = op.on_wide("DIV", value, factor)
    rest = op.on_wide("SUB", value, op.on_wide("MUL", quotient, factor))
    # The quotient is truncated; the one below has a rest that is not negative.
    is_below = op.binary("LESS", rest, zero)
    floor = op.choose(is_below, op.on_wide("SUB", quotient, 1), quotient)
    rest = op.choose(is_below, op.on_wide("ADD", rest, factor), rest)
    twice = op.on_wide("ADD", rest, rest)
    rows = value.size()
    goes_up = _goes_up(mode, rows, lambda: op.binary("LESS", value, zero), lambda: op.is_odd(floor))
    if mode in _WAYS:
        ups = op.binary("LOGICAL_AND", goes_up, op.binary("NOT_EQUAL", rest, zero))
    else:
        ups = op.choose(
            op.binary("EQUAL", twice, factor), goes_up, op.binary("GREATER", twice, factor)
        )
    found = op.choose(ups, op.on_wide("ADD", floor, 1), floor)
    return op.on_wide("MUL", found, factor)


def _goes_up(
    mode: str, rows: int, is_negative: Callable[[], Any], is_odd: Callable[[], Any]
) -> Any:
    """Whether a number, or a tie, goes to the integer above; `is_odd` is of the one below."""
    way = mode.removeprefix("HALF_")
    if way in ("DOWN", "UP"):
        return op.column_of(op.scalar(way == "UP"), rows)
    mask = is_negative() if way.startswith("TOWARDS") else is_odd()
    return op.invert(mask) if way in ("TOWARDS_INFINITY", "TO_ODD") else mask


_OPERATORS = {"DOWN": "FLOOR", "UP": "CEIL", "HALF_TO_EVEN": "RINT"}


def _to_integer(value: Any, mode: str) -> Any:
    """Floating-point numbers as integers."""
    if mode in _OPERATORS:
        return op.unary(_OPERATORS[mode], value)
    kind = value.type()
    floor, ceiling = op.unary("FLOOR", value), op.unary("CEIL", value)

    def is_odd() -> Any:
        half = op.binary("MUL", floor, op.scalar(0.5, kind), kind)
        return op.binary("NOT_EQUAL", op.unary("FLOOR", half), half)

    is_negative = op.binary("LESS", value, op.scalar(0.0, kind))
    goes_up = _goes_up(mode, value.size(), lambda: is_negative, is_odd)
    found = op.choose(goes_up, ceiling, floor)
    if mode in _WAYS:
        return found
    # pyarrow finds ties by this difference, which is rounded.
    is_tie = op.binary("EQUAL", op.binary("SUB", value, floor, kind), op.scalar(0.5, kind))
    return op.choose(is_tie, found, op.unary("RINT", value))


def _round_floats(call: Call, digits: int, mode: str) -> Any:
    value = call.value
    # pyarrow's larger powers of ten have the digits of single precision.
    call.need(abs(digits) <= 10, "not to so many digits")
    factor = op.scalar(float(10 ** abs(digits)), call.type)
    kind = value.type()
    scale, unscale = ("MUL", "DIV") if digits >= 0 else ("DIV", "MUL")
    scaled = op.binary(scale, value, factor, kind)
    is_whole = op.binary("EQUAL", op.unary("FLOOR", scaled), scaled)
    infinity = op.scalar(_INFINITE, call.type)
    becomes_infinite = ("EQUAL", ("ABS", 1), infinity), ("LESS", ("ABS", 0), infinity)
    call.need(
        not op.is_anywhere(op.computed(("LOGICAL_AND", *becomes_infinite), value, scaled)),
        "not numbers that are too large for so many digits",
    )
    result = op.binary(unscale, _to_integer(scaled, mode), factor, kind)
    return op.choose(is_whole, value, result)
