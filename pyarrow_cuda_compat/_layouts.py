"""Shapes, strides and orders as Numba's functions take them."""

from operator import index
from typing import Any, Literal

import numpy as np

from . import _native

Order = Literal["C", "F"]

_MAX_SIZE = 2**63 - 1
NOT_CONTIGUOUS = (
    "Array contains non-contiguous buffer and cannot be transferred as a single memory region. "
    "Please ensure contiguous buffer with numpy .ascontiguousarray()"
)


def described(
    shape: Any, dtype: Any, strides: Any, order: str
) -> tuple[tuple[int, ...], np.dtype[Any], tuple[int, ...]]:
    """Shape, dtype and strides in bytes, from what Numba's functions take for them."""
    dtype = np.dtype(dtype)
    shape = lengths(shape)
    if not strides and strides != 0:
        return shape, dtype, dense_strides(shape, dtype.itemsize, order)
    one = hasattr(strides, "__index__")
    strides = (index(strides),) if one else tuple(map(index, _native._dimensions(strides)))
    if len(strides) != len(shape):
        raise ValueError("strides not match ndim")
    return shape, dtype, strides


def lengths(shape: Any) -> tuple[int, ...]:
    """A shape: a length, or several."""
    kind = getattr(getattr(shape, "dtype", None), "kind", None)
    if isinstance(shape, float) or kind in ("f", "c"):
        raise TypeError("shape must be an integer or tuple of integers")
    if hasattr(shape, "__index__") and not getattr(shape, "ndim", 0):
        shape = (shape,)
    shape = _native._dimensions(shape)
    for length in shape:
        if not hasattr(length, "__index__"):
            raise TypeError(f"shape elements must be integers, got {type(length).__name__}")
    lengths = tuple(map(index, shape))
    if any(length < 0 for length in lengths):
        raise ValueError("negative dimensions are not allowed")
    return lengths


def dense_strides(shape: tuple[int, ...], itemsize: int, order: str) -> tuple[int, ...]:
    """The strides of elements that follow each other without gaps."""
    if order not in ("C", "F"):
        raise ValueError("must be either C/F order")
    strides = []
    for length in reversed(shape) if order == "C" else shape:
        strides.append(itemsize)
        itemsize *= length
    return tuple(reversed(strides) if order == "C" else strides)


def like(array: Any) -> dict[str, Any]:
    """What describes a new array like another one: in its order, without its gaps."""
    if not (hasattr(array, "shape") and hasattr(array, "dtype")):
        raise TypeError(f"expected an array, got {type(array).__name__}: no shape or no dtype")
    shape, dtype = _native._dimensions(array.shape), np.dtype(array.dtype)
    strides = getattr(array, "strides", None)
    same = {"shape": shape, "dtype": dtype}
    for order in ("C", "F"):
        if strides is None or is_dense(shape, strides, dtype.itemsize, order):
            return {**same, "strides": None, "order": order}
    assert strides is not None
    # The dimensions keep their order, from the densest one to the widest one.
    itemsize, kept = dtype.itemsize, [0] * len(shape)
    for axis in sorted(range(len(shape)), key=lambda axis: strides[axis]):
        kept[axis] = itemsize
        itemsize *= shape[axis]
    return {**same, "strides": tuple(kept) if len(shape) > 1 else None, "order": "C"}


def is_dense(shape: tuple[int, ...], strides: Any, itemsize: int, order: str) -> bool:
    """Whether elements follow each other without gaps."""
    dense = dense_strides(shape, itemsize, order)
    # The stride of a dimension with one element says nothing.
    pairs = zip(shape, strides, dense, strict=True)
    return 0 in shape or all(length == 1 or had == has for length, had, has in pairs)


def extent(shape: tuple[int, ...], strides: tuple[int, ...], itemsize: int) -> tuple[int, int]:
    """The bytes that elements span, and how many of them lie before the first element."""
    if 0 in shape:
        return 0, 0
    before = after = 0
    for length, stride in zip(shape, strides, strict=True):
        reach = (length - 1) * stride
        before, after = before - min(reach, 0), after + max(reach, 0)
    size = before + after + itemsize
    if size > _MAX_SIZE:
        raise ValueError(f"{size} bytes are more than an array can have")
    return size, before


def bounds(array: np.ndarray[Any, Any]) -> tuple[int, int]:
    """The addresses of the first byte of any element, and after the last one."""
    size, before = extent(array.shape, array.strides, array.itemsize)
    first = address_of(array) - before
    return first, first + size


def address_of(array: np.ndarray[Any, Any]) -> int:
    """The address of the first element."""
    address: int = array.__array_interface__["data"][0]
    return address


def is_basic(key: Any) -> bool:
    """Whether an index expression has only integers, slices, ``...`` and None."""
    entries = key if isinstance(key, tuple) else (key,)
    basic = (int, np.integer, slice, type(...), type(None))
    return all(isinstance(each, basic) and not isinstance(each, bool) for each in entries)


def without_repetition(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The elements that a broadcast array repeats, once each."""
    if not array.size or 0 not in array.strides:
        return array
    return array[tuple(0 if stride == 0 else slice(None) for stride in array.strides)]
