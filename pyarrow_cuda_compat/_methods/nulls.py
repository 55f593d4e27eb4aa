"""What takes the place of nulls in device arrays: a mask, or a value.

A kernel of the extension reads the validity bitmap on the device.
"""

from __future__ import annotations

import math
from typing import Any

import pyarrow as pa

from .. import _native
from .._native import DeviceArray

CHOICES = ("keep", "mask", "fill")


def check(kind: Any, nulls: str, fill: Any, dtype: Any, stored: Any) -> bytes | None:
    """The bytes of the element that replaces nulls of a type, whose values have the dtype `stored`.

    Raises
    ------
    TypeError, ValueError
        If an argument cannot be met.
    """
    if nulls not in CHOICES:
        raise ValueError(f"nulls must be one of {', '.join(map(repr, CHOICES))}, not {nulls!r}")
    if fill is not None and nulls != "fill":
        raise ValueError(f"fill={fill!r} is for nulls='fill' only, not for nulls={nulls!r}")
    if dtype is not None:
        _check_dtype(kind, dtype, stored)
    return _element_of(kind, fill) if nulls == "fill" else None


def _check_dtype(kind: Any, dtype: Any, stored: Any) -> None:
    import numpy as np

    expected = np.dtype(bool if pa.types.is_boolean(kind) else stored)
    if np.dtype(dtype) != expected:
        way_out = "column.cast(type) does"
        if pa.types.is_fixed_size_binary(kind):
            way_out = "array.view(dtype) shows the same bytes as other elements"
        raise TypeError(
            f"values of type {kind} can be elements of dtype {expected}, not {np.dtype(dtype)}: "
            f"from_arrow does not convert, {way_out}"
        )


def _element_of(kind: Any, fill: Any) -> bytes:
    if fill is None:
        if not pa.types.is_floating(kind):
            raise ValueError(
                f"nulls='fill' needs a value for nulls of type {kind}, such as "
                f"fill={_example_of(kind)}: only floating-point numbers have one by default, NaN"
            )
        fill = math.nan
    if isinstance(fill, pa.Scalar):
        fill = fill.as_py()
    try:
        value = _converted(kind, fill)
    except (pa.ArrowException, OverflowError) as error:
        raise ValueError(f"fill={fill!r} is not a value of type {kind}: {error}") from None
    if value.null_count:
        raise ValueError(f"fill={fill!r} is a null itself: pass a value of type {kind}")
    if pa.types.is_boolean(kind):
        return bytes([value[0].as_py()])
    element: bytes = value.buffers()[1].to_pybytes()
    return element[: kind.bit_width // 8]


def _example_of(kind: Any) -> str:
    if pa.types.is_boolean(kind):
        return "False"
    if pa.types.is_fixed_size_binary(kind):
        return f"bytes({kind.byte_width})"
    return "pyarrow.MonthDayNano([0, 0, 0])" if pa.types.is_interval(kind) else "0"


def _converted(kind: Any, fill: Any) -> Any:
    """An array of the value alone, which is exact but for rounded floating-point numbers."""
    if pa.types.is_temporal(kind) and not isinstance(fill, int):
        inferred = pa.array([fill])
        return inferred if inferred.null_count else inferred.cast(kind)
    value = pa.array([fill], kind)
    found = value[0].as_py()
    if pa.types.is_integer(kind) and found is not None and found != fill:
        raise pa.ArrowInvalid("it is no whole number")  # pyarrow cuts the fraction off
    if pa.types.is_floating(kind) and math.isinf(found or 0) and not math.isinf(fill):
        raise pa.ArrowInvalid("it is too large")
    return value


def masked(array: DeviceArray) -> tuple[DeviceArray, DeviceArray]:
    """The values of an array of one dimension, and which of them are null."""
    validity = array.validity
    if validity is not None:
        return _values(array), _native._booleans_of_bits(validity, True)
    values = _values(array)
    mask = DeviceArray.empty(values.shape, "|b1", context=array.context)
    mask.fill(False)
    return values, mask


def filled(array: DeviceArray, element: bytes) -> DeviceArray:
    """The values of an array of one dimension, with that element where they are null."""
    values, validity = _values(array), array.validity
    return values if validity is None else _native._filled(values, validity, element)


def forbidden(array: DeviceArray, what: str = "the column") -> DeviceArray:
    """The values of an array of one dimension that has no nulls."""
    if array.null_count:
        length = len(array) if array.bit_length is None else array.bit_length
        raise ValueError(
            f"{what} has nulls ({array.null_count} of {length}), which the result cannot hold: "
            "nulls='mask' also returns where they are, nulls='fill' with fill= replaces them"
        )
    return _values(array)


def _values(array: DeviceArray) -> DeviceArray:
    """Without the bitmap of nulls; booleans as bytes."""
    return array.values if array.bit_length is None else _native._booleans_of_bits(array, False)
