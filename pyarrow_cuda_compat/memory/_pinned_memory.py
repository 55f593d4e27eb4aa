"""Pinned host memory: arrays that are made there, and arrays that are pinned for a time."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np

from .. import _layouts as layouts
from .._native import DeviceArray, _read_only, _RegisteredArray, new_host_buffer
from ._current_device import current_context


def pinned_array(
    shape: Any, dtype: Any = np.float64, strides: Any = None, order: str = "C"
) -> np.ndarray[Any, Any]:
    """Allocate an array on the host in pinned (page-locked) memory, uninitialised.  It owns the
    memory.  Copies between it and a device are the fastest, and those on a stream return at once.
    `strides` are in bytes.  Elements that are Python objects raise a `TypeError`.  It raises an
    `OSError` if the driver cannot pin that much memory.  As `numba.cuda.pinned_array`.
    """
    shape, dtype, steps = layouts.described(shape, dtype, strides, order)
    if dtype.hasobject:  # for which NumPy would take whatever the memory has
        raise TypeError(f"pinned memory cannot have elements of {dtype!r}: they are Python objects")
    size, before = layouts.extent(shape, steps, dtype.itemsize)
    memory = new_host_buffer(size, current_context().device_number)
    return np.ndarray(shape, dtype, memory, before, steps)


def pinned_array_like(ary: Any) -> np.ndarray[Any, Any]:
    """Allocate an array like another one in pinned memory, uninitialised.  The other one may be on
    the host or on a device.  As `numba.cuda.pinned_array_like`.
    """
    return pinned_array(**layouts.like(ary))


@contextmanager
def pinned(*arylist: Any) -> Iterator[None]:
    """Pin host arrays during a ``with`` block.  Copies between them and a device are then the
    fastest, and those on a stream return at once.  Leaving the block, also by an exception, waits
    for the work of the context and unpins all of them.  None may be pinned already, nor share a
    page with an array that is.  It raises an `OSError` if the driver cannot pin the memory; no
    array is pinned in that case.  Read-only arrays may be those of a mapped file.  As
    `numba.cuda.pinned`.
    """
    with ExitStack() as pins:
        for array in map(_array_of, arylist):
            _pin(array, pins)
        yield


@contextmanager
def mapped(*arylist: Any, **kws: Any) -> Iterator[Any]:
    """Let the device access host arrays during a ``with`` block.  Kernels work on the memory of the
    host itself, over the bus.  The block gets a `DeviceArray` for one array, else a list of them.
    Leaving it, also by an exception, waits for the work of the context and unmaps all of them.  The
    arrays on the device must not be used any more then; those of read-only arrays are read-only.
    Only the keyword `stream` is accepted, and changes nothing.  Conditions and errors are those of
    `pinned`.  As `numba.cuda.mapped`.
    """
    if not kws.keys() <= {"stream"}:
        raise AssertionError("Only accept 'stream' as keyword.")
    with ExitStack() as pins:
        arrays = [_on_device(array, _pin(array, pins)) for array in map(_array_of, arylist)]
        yield arrays[0] if len(arrays) == 1 else arrays


def _array_of(obj: Any) -> np.ndarray[Any, Any]:
    """The array that an object is, or whose memory it has."""
    return obj if isinstance(obj, np.ndarray) else np.frombuffer(obj, np.uint8)


def _pin(array: np.ndarray[Any, Any], pins: ExitStack) -> int:
    """Pins an array until `pins` is closed.  Returns where the device finds the first byte."""
    if not array.nbytes:
        return 0
    first, end = layouts.bounds(array)
    registered = _RegisteredArray(
        current_context(), first, end - first, array, array.flags.writeable
    )
    pins.callback(registered.unregister)
    address: int = registered.address
    return address


def _on_device(array: np.ndarray[Any, Any], address: int) -> DeviceArray:
    size, before = layouts.extent(array.shape, array.strides, array.itemsize)
    context = current_context()
    if not size:
        return DeviceArray.empty(array.shape, array.dtype, context=context)
    buffer = context.foreign_buffer(address, size, array)
    if not array.flags.writeable:
        buffer = _read_only(buffer)
    return DeviceArray(buffer, array.dtype, array.shape, array.strides, offset=before)
