"""The decimals that are nearest to floating-point numbers."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pyarrow as pa
import pylibcudf as plc  # type: ignore[import-not-found,unused-ignore]

from .. import operations as op
from ..calls import Call
from ..columns import on_device, to_cudf
from ..types import cudf_type

#: Of an IEEE 754 double: the bits behind the point, and the exponent of a number whose integer has
#: all of them.
_FRACTION, _BIAS = 52, 1075
#: The most digits behind the point with which 53 bits times a power of ten are less than 2^123.
_MOST_SCALE = 21
_POWERS = pa.array([Decimal(2**place) for place in range(127)], pa.decimal128(38))


def nearest_decimals(call: Call, value: Any, wanted: pa.DataType) -> Any:
    """The nearest decimal of the number that the bits are; of two, the one with an even digit."""
    scale, precision = wanted.scale, wanted.precision
    call.need(0 <= scale <= min(_MOST_SCALE, precision), "not to such a scale")
    double = op.cast(value, op.FLOAT64)
    limit = op.scalar(float(10 ** (precision - scale)), pa.float64())
    is_within = op.computed(("LESS", ("ABS", 0), limit), double)
    _need_all(call, value, is_within, wanted)
    bits = op.same_bits(double, op.INT64)
    exponent = op.on_int64("BITWISE_AND", op.on_int64("SHIFT_RIGHT", bits, _FRACTION), 0x7FF)
    whole = op.on_int64("BITWISE_AND", bits, 2**_FRACTION - 1)
    is_normal = op.binary("GREATER", exponent, op.scalar(0, pa.int64()))
    whole = op.choose(is_normal, op.on_int64("ADD", whole, 2**_FRACTION), whole)
    exponent = op.on_int64("NULL_MAX", exponent, 1)
    # The number is `whole` divided or multiplied by a power of two.
    digits = op.on_wide("MUL", op.cast(whole, op.WIDE), 10**scale)
    right, left = (
        _power_of_two(op.on_int64("SUB", *pair))
        for pair in ((op.scalar(_BIAS, pa.int64()), exponent), (exponent, _BIAS))
    )
    result = op.on_wide("MUL", _rounded_quotient(digits, right), left)
    is_negative = op.binary("LESS", bits, op.scalar(0, pa.int64()))
    result = op.choose(is_negative, op.on_wide("SUB", op.wide(0), result), result)
    result = op.null_where(plc.unary.is_null(value), result) if value.null_count() else result
    fits = op.binary("LESS_EQUAL", op.unary("ABS", result), op.wide(10**precision - 1))
    _need_all(call, value, fits, wanted)
    return op.scaled(result, cudf_type(wanted))


def _need_all(call: Call, value: Any, is_right: Any, wanted: pa.DataType) -> None:
    """Raises pyarrow's error, which is for the last value that a type has not."""
    if op.is_everywhere(is_right):
        return
    call.need(not call.options["allow_decimal_truncate"], "not numbers that the type does not have")
    wrong = op.kept(plc.Table([value]), op.invert(is_right))
    number = plc.copying.get_element(op.one(wrong), wrong.num_rows() - 1).to_py()
    pa.scalar(number, call.given).cast(wanted)


def _power_of_two(exponent: Any) -> Any:
    """1 for negative exponents, and 2^126 for large ones."""
    last = op.scalar(len(_POWERS) - 1, pa.int64())
    places = op.on_int64("NULL_MAX", op.filled(exponent, op.scalar(0, pa.int64())), 0)
    places = op.binary("NULL_MIN", places, last, op.INT64)
    return op.one(op.gathered(plc.Table([to_cudf(on_device(_POWERS))]), places))


def _rounded_quotient(digits: Any, divisor: Any) -> Any:
    """Of integers that are not negative; a half goes to the even one."""
    found = op.on_wide("DIV", digits, divisor)
    rest = op.on_wide("SUB", digits, op.on_wide("MUL", found, divisor))
    twice = op.on_wide("ADD", rest, rest)
    is_tie = op.binary("EQUAL", twice, divisor)
    goes_up = op.choose(is_tie, op.is_odd(found), op.binary("GREATER", twice, divisor))
    return op.choose(goes_up, op.on_wide("ADD", found, 1), found)
