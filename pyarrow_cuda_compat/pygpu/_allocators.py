"""Memory to make a `GPUArray` of: for its side on the host, or for the one on the device."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import _native
from ._devices import current_context
from ._dtypes import supported
from ._host_memory import Host, described, order_of
from ._pointers import POINTERS, TypedPointer
from ._status import WithStatusProperty
from ._typed_allocators import pinned

__all__ = ["Allocator", "HostAllocator", "PagelockedAllocator"]


class HostMemory:
    """Memory of the host of a shape and a type."""

    _array: Host | None
    _dtype: np.dtype[Any]

    def get(self) -> Host:
        """Return the memory itself as an array of NumPy, not a copy.  It raises a `ValueError` if
        the memory could not be pinned.  As PyGPU's `HostAllocator.get`.
        """
        if self._array is None:
            raise ValueError("the memory could not be page-locked: see last_status")
        return self._array

    def ptr(self) -> TypedPointer:
        """Return the pointer to the memory, which it retains.  It is of the memory's type, such as
        `pointer_wrapper_float32`.  It is safe, or null if the memory could not be pinned.  As
        PyGPU's `HostAllocator.ptr`.
        """
        pointer = POINTERS[self._dtype.name]
        return pointer() if self._array is None else pointer._to(self._array)


class HostAllocator(HostMemory):
    """Memory of the host for the host's side of a `GPUArray`, of a shape and one of the
    `SUPPORTED_DTYPES`.  `dtype` is a name, a type or a `numpy.dtype`.  Another type raises
    `UnsupportedDataType`, and a negative length a `ValueError`.  As PyGPU's `HostAllocator`.
    """

    def __init__(self, shape: int | Sequence[int], dtype: Any) -> None:
        self._dtype = supported(dtype)
        self._array = np.empty(shape, self._dtype)


class PagelockedAllocator(HostMemory, WithStatusProperty):
    """Pinned memory of the host for the host's side of a `GPUArray`.  Copies between it and a
    device are the fastest.  Kernels can use its address; so an `Allocator` can make the device's
    side of it, too.  It raises what `HostAllocator` raises, and `last_status` says whether the
    memory was pinned.  As PyGPU's `PagelockedAllocator`.
    """

    def __init__(self, shape: int | Sequence[int], dtype: Any) -> None:
        self._dtype = supported(dtype)
        lengths, nbytes = described(shape, self._dtype)
        self._buffer, self._status = pinned(nbytes)
        self._array = None
        if self._buffer is not None:
            self._array = np.ndarray(lengths, self._dtype, self._buffer)


class Allocator:
    """Existing memory of a device for the device's side of a `GPUArray`.

    Parameters
    ----------
    data : GPUArray, PagelockedAllocator or device array
        The memory, which is shared and retained: another array of this module, pinned
        memory, or any array with the CUDA array interface or DLPack, such as CuPy's.
    host_data : numpy.ndarray, optional
        The side on the host, of the same shape and type; new memory if not given.

    Raises
    ------
    UnsupportedDataType
        If the elements are of none of the `SUPPORTED_DTYPES`.
    TypeError
        If `data` has no memory on a device.
    ValueError
        If `host_data` is of another shape or type.

    Examples
    --------
    >>> first = gpuarray.to_gpu(np.array([1, 2, 3]))
    >>> second = gpuarray.GPUArray(allocator=gpuarray.Allocator(first))
    >>> second.set_val(0, 9)
    <cudaError: code=0>
    >>> first.get().tolist(), second.ptr == first.ptr
    ([9, 2, 3], True)
    """

    def __init__(self, data: Any, host_data: Host | None = None) -> None:
        self._device = _device_side(data)
        kind = supported(self._device.dtype)
        if host_data is None:
            host_data = np.empty(self._device.shape, kind, order_of(self._device))
        if (host_data.shape, host_data.dtype) != (self._device.shape, kind):
            raise ValueError(
                f"host_data is of shape {host_data.shape} and type {host_data.dtype}, and the "
                f"memory on the device of shape {self._device.shape} and type {kind}"
            )
        self._host = host_data

    def ptr(self) -> int:
        """Return the address of the memory on the device.  As PyGPU's `Allocator.ptr`."""
        return self._device.address

    def host_ptr(self) -> int:
        """Return the address of the memory on the host.  As PyGPU's `Allocator.host_ptr`."""
        return self._host.ctypes.data


def _device_side(data: Any) -> _native.DeviceArray:
    if isinstance(data, PagelockedAllocator) and data._buffer is not None:
        buffer = current_context().buffer_from_object(data._buffer)
        return _native.DeviceArray(buffer, data._dtype, data.get().shape)
    try:
        return _native.DeviceArray(data)
    except TypeError:
        raise TypeError(f"{type(data).__name__} has no memory on a device") from None
