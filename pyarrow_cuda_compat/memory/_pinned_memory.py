"""Pinned host memory: arrays that are made there, and arrays that are pinned for a time."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np

from .. import _layouts as layouts
from .._native import DeviceArray, _RegisteredArray, new_host_buffer
from ._current_device import current_context


def pinned_array(
    shape: Any, dtype: Any = np.float64, strides: Any = None, order: str = "C"
) -> np.ndarray[Any, Any]:
    """Allocate an array on the host in pinned (page-locked) memory, uninitialised.

    Parameters
    ----------
    shape : int or tuple of int
        The number of elements in each dimension.
    dtype : numpy.dtype, default numpy.float64
        The type of the elements.
    strides : tuple of int, optional
        The distance between neighbours in each dimension, in bytes.
    order : {'C', 'F'}, default 'C'
        Whether the last or the first dimension is the densest, without `strides`.

    Returns
    -------
    numpy.ndarray
        It owns the memory.  Copies between it and a device are the fastest, and those on a stream
        return at once.

    Raises
    ------
    TypeError
        If the elements are Python objects.
    OSError
        If the driver cannot pin so much memory.

    Examples
    --------
    >>> array = memory.pinned_array((2, 3), dtype="i4")
    >>> array[:] = 7
    >>> memory.to_device(array).copy_to_host().sum()
    np.int64(42)
    """
    shape, dtype, steps = layouts.described(shape, dtype, strides, order)
    if dtype.hasobject:  # for which NumPy would take whatever the memory has
        raise TypeError(f"pinned memory cannot have elements of {dtype!r}: they are Python objects")
    size, before = layouts.extent(shape, steps, dtype.itemsize)
    memory = new_host_buffer(size, current_context().device_number)
    return np.ndarray(shape, dtype, memory, before, steps)


def pinned_array_like(ary: Any) -> np.ndarray[Any, Any]:
    """Allocate an array like another one in pinned memory, uninitialised.

    Parameters
    ----------
    ary : array
        An array on the host or on a device, whose shape, dtype and order the new one has.

    Returns
    -------
    numpy.ndarray

    Examples
    --------
    >>> memory.pinned_array_like(np.ones((2, 3), "f4")).nbytes
    24
    """
    return pinned_array(**layouts.like(ary))


@contextmanager
def pinned(*arylist: Any) -> Iterator[None]:
    """Pin host arrays during a ``with`` block.

    Copies between them and a device are then the fastest, and those on a stream return at once.
    Leaving the block, also by an exception, waits for the work of the context and unpins all of
    them.

    Parameters
    ----------
    *arylist : numpy.ndarray
        Arrays that are not pinned yet, nor share a page with one that is.

    Raises
    ------
    OSError
        If the driver cannot pin the memory.  No array is pinned in that case.

    Examples
    --------
    >>> array, stream = np.arange(1000), memory.stream()
    >>> with memory.pinned(array):
    ...     on_device = memory.to_device(array, stream=stream)
    >>> (on_device.copy_to_host() == array).all()
    np.True_
    """
    with ExitStack() as pins:
        for array in map(_array_of, arylist):
            _pin(array, pins)
        yield


@contextmanager
def mapped(*arylist: Any, **kws: Any) -> Iterator[Any]:
    """Let the device access host arrays during a ``with`` block.

    Kernels work on the memory of the host itself, over the bus.  Leaving the block, also by an
    exception, waits for the work of the context and unmaps all of them: the arrays on the device
    must not be used any more.

    Parameters
    ----------
    *arylist : numpy.ndarray
        Arrays that are not pinned yet, nor share a page with one that is.
    **kws : Stream
        ``stream`` only: the stream that Numba binds the arrays to.

    Yields
    ------
    DeviceArray or list of DeviceArray
        The same memory, for the device: one array for one, else a list of them.

    Raises
    ------
    OSError
        If the driver cannot pin the memory.  No array is mapped in that case.

    Examples
    --------
    >>> array = np.arange(3)
    >>> with memory.mapped(array) as on_device:
    ...     on_device[0] = 7  # or a kernel
    >>> array
    array([7, 1, 2])
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
    registered = _RegisteredArray(current_context(), first, end - first, array)
    pins.callback(registered.unregister)
    address: int = registered.address
    return address


def _on_device(array: np.ndarray[Any, Any], address: int) -> DeviceArray:
    size, before = layouts.extent(array.shape, array.strides, array.itemsize)
    context = current_context()
    if not size:
        return DeviceArray.empty(array.shape, array.dtype, context=context)
    buffer = context.foreign_buffer(address, size, array)
    return DeviceArray(buffer, array.dtype, array.shape, array.strides, offset=before)
