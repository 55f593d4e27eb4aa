"""The side of an array that is on the host: NumPy arrays over memory that others own."""

import ctypes
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import _native
from .._layouts import Order
from ._pointers import TypedPointer

Host = np.ndarray[tuple[int, ...], np.dtype[Any]]
Shape = list[int] | tuple[int, ...]


def host_array(data: Any) -> Host:
    """The memory of a NumPy array or a buffer, as it is."""
    if isinstance(data, np.ndarray):
        return data
    if isinstance(data, np.generic):
        raise TypeError(f"{type(data).__name__} is a value, not memory to copy to")
    _native._check_arrow(data)
    if hasattr(data, "__array_interface__"):
        return np.asarray(data)
    return np.asarray(memoryview(data))


def host_at(pointer: TypedPointer | int, shape: Shape, dtype: np.dtype[Any], order: Order) -> Host:
    """The memory at a pointer; a bare address is the caller's to vouch for."""
    if isinstance(pointer, TypedPointer):
        memory = pointer.get()
        if memory.dtype != dtype:
            raise TypeError(f"the pointer points to elements of type {memory.dtype}, not {dtype}")
        flat: Any = memory.ravel(order="K")
        if memory.size and not np.may_share_memory(flat, memory):
            raise ValueError("the pointer points to memory with gaps between the elements")
    else:
        _, nbytes = described(shape, dtype)
        flat = (ctypes.c_char * nbytes).from_address(_native._host_address(pointer, nbytes))
    return np.ndarray(tuple(shape), dtype, flat, order=order)


def described(shape: int | Sequence[int], dtype: np.dtype[Any]) -> tuple[tuple[int, ...], int]:
    """The lengths of a shape, and the size of its elements in bytes; refuses what is no shape."""
    if not hasattr(shape, "__index__"):
        shape = _native._dimensions(shape)
    like = np.broadcast_to(np.empty((), dtype), shape)  # takes no memory
    return like.shape, like.size * dtype.itemsize


def order_of(array: Host | _native.DeviceArray) -> Order:
    """The order in which the elements lie close together: C unless it is Fortran's only."""
    return "F" if array.flags["F_CONTIGUOUS"] and not array.flags["C_CONTIGUOUS"] else "C"


def reshaped(array: Host, shape: Any) -> Host:
    """The same memory in another shape."""
    view = array.reshape(shape)
    if array.size and not np.may_share_memory(view, array):
        raise ValueError(
            f"cannot reshape array of shape {array.shape} into shape {view.shape} without a copy"
        )
    return view
