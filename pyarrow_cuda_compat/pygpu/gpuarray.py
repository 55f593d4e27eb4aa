"""The high-level interface: arrays that allocate their memory on the device."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import _native
from .._layouts import Order
from ._allocators import Allocator, HostAllocator, HostMemory, PagelockedAllocator
from ._dtypes import SUPPORTED_DTYPES, UnsupportedDataType, dtype, supported
from ._host_and_device import HostAndDevice
from ._host_memory import Host, described, host_array, order_of, reshaped
from ._pointers import TypedPointer
from ._status import SUCCESS, WithStatusProperty, cudaError_t

__all__ = [
    "SUPPORTED_DTYPES",
    "Allocator",
    "GPUArray",
    "HostAllocator",
    "PagelockedAllocator",
    "UnsupportedDataType",
    "dtype",
    "to_gpu",
]

# The host in DLPack's numbers.
_HOST = 1


class GPUArray(HostAndDevice, WithStatusProperty):
    """An array with a side on the host and a side on the current device, which is allocated.

    Nothing is copied unasked: `to_gpu` copies the host's side to the device, and `get` the
    device's side to the host.

    Parameters
    ----------
    array : numpy.ndarray, buffer, or list or tuple of int
        The side on the host, which is used in place; or the number of elements in each
        dimension, for new memory of the host.
    dtype : str, type or numpy.dtype, optional
        The type of the elements, one of `SUPPORTED_DTYPES`; by default ``float64`` for a shape,
        and the array's own for an array.
    shape : int or sequence of int, optional
        The number of elements in each dimension, in place of `array`; with it, its own.
    order : {'C', 'F'}, optional
        Whether the last or the first dimension is the densest on the device.  By default C order,
        or Fortran order for an array that is in Fortran order.
    copy : bool, default False
        Whether the side on the host is a copy of `array`.
    allocator : Allocator, HostAllocator or PagelockedAllocator, optional
        Memory to use, in place of all other arguments but `order`.

    Raises
    ------
    UnsupportedDataType
        If the elements are of none of the `SUPPORTED_DTYPES`, or `array` is neither an array nor
        a shape.
    TypeError, ValueError
        If the arguments contradict each other, or the shape is not one.
    RuntimeError
        If there are other arguments with `allocator`.

    Examples
    --------
    >>> array = gpuarray.GPUArray((3, 3, 3), dtype=np.complex64)
    >>> array.last_status
    <cudaError: code=0>
    >>> array.set(np.ones((3, 3, 3), np.complex64))
    <cudaError: code=0>
    >>> array.get().sum()
    np.complex64(27+0j)
    """

    def __init__(
        self,
        array: Any = None,
        dtype: Any = None,
        *,
        shape: Any = None,
        order: Order | None = None,
        copy: bool = False,
        allocator: Any = None,
    ) -> None:
        if order not in (None, "C", "F"):
            raise ValueError(f"order must be one of 'C' or 'F' (got {order!r})")
        if allocator is not None:
            if not (array is None and dtype is None and shape is None):
                raise RuntimeError("allocator is given, so there can be no array, shape or dtype")
            self._hold(*_sides_of(allocator, order))
        else:
            host = _new_host_side(shape if array is None else array, dtype, order, copy)
            if shape is not None and described(shape, host.dtype)[0] != host.shape:
                raise ValueError(f"the array is of shape {host.shape}, not {shape}")
            self._hold(host, order or order_of(host))
        self.allocate()

    @property
    def size(self) -> int:
        """The number of elements.  As NumPy's `ndarray.size`."""
        return self._host.size

    @property
    def nbytes(self) -> int:
        """The size of each side in bytes.  As NumPy's `ndarray.nbytes`."""
        return self._host.nbytes

    @property
    def shape(self) -> tuple[int, ...]:
        """The number of elements in each dimension.  A sequence of as many elements, with one -1
        for the rest, can be assigned.  It becomes the shape of both sides if that takes no copy;
        otherwise it raises a `ValueError`.  As NumPy's `ndarray.shape`.
        """
        return self._host.shape

    @shape.setter
    def shape(self, shape: int | Sequence[int]) -> None:
        host, device = reshaped(self._host, shape), self._device
        self._hold(host, self._order, None if device is None else device.reshape(host.shape))

    @property
    def strides(self) -> tuple[int, ...]:
        """The strides of the side on the device in bytes.  As NumPy's `ndarray.strides`."""
        return self._strides()

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the elements.  As NumPy's `ndarray.dtype`."""
        return self._host.dtype

    @property
    def flag_c_contiguous(self) -> int:
        """Whether the side on the device is in C order without gaps: 1 or 0.  As PyGPU's
        `GPUArray.flag_c_contiguous`.
        """
        return int(self._order == "C" if self._device is None else self._device.is_c_contiguous())

    @property
    def host_data(self) -> TypedPointer:
        """The pointer to the side on the host, of the array's type.  It is safe, and retains the
        memory.  As PyGPU's `GPUArray.host_data`.
        """
        return self._host_pointer()

    @property
    def device_data(self) -> TypedPointer:
        """The pointer to the side on the device, of the array's type; null if the allocation has
        failed.  It retains the memory.  As PyGPU's `GPUArray.device_data`.
        """
        return self._device_pointer()

    @property
    def ptr(self) -> int:
        """The address of the first element on the device, which ctypes takes for a ``c_void_p``.
        It is 0 if the array is empty, or if its allocation has failed.  As PyGPU's `GPUArray.ptr`.
        """
        return int(self.device_data)

    def to_gpu(self) -> cudaError_t:
        """Copy the side on the host to the device: another name of `to_device`.  As PyGPU's
        `GPUArray.to_gpu`.
        """
        return self.to_device()

    def get(self, copy: bool = False) -> Host:
        """Copy the side on the device to the host, and return that side, or a copy of it.  Without
        `copy`, it is the array that this one was made of.  `last_status` says whether it has the
        elements of the device.  It raises a `ValueError` if the memory on the host is read-only.
        As PyGPU's `GPUArray.get`.
        """
        self.to_host()
        host = self._host
        return host.copy(order="K") if copy else host

    def __getitem__(self, key: Any) -> GPUArray:
        host = np.empty_like(self._host[key], order="C", subok=False)
        part = GPUArray(host)
        if part._copy_part(self, key) is SUCCESS:
            part.to_host()
        return part

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        if self._device is None:
            raise AttributeError("the array has no memory on the device: see last_status")
        return self._device.__cuda_array_interface__

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Host:
        if self._device is None:
            raise ValueError("the array has no memory on the device: see last_status")
        host: Host = self._device.__array__(dtype, copy)
        return host

    def __repr__(self) -> str:
        return f"<GPUArray dtype={self.dtype} shape={self.shape} last_status={self.last_status}>"


def to_gpu(array: Any) -> GPUArray:
    """Make a `GPUArray` of an array of NumPy or a buffer, and copy the elements to the current
    device.  The array becomes the side on the host and stays where it is.  `GPUArray.last_status`
    says whether the elements are on the device.  Anything else, or a type that is none of the
    `SUPPORTED_DTYPES`, raises `UnsupportedDataType`.  As PyGPU's `to_gpu`.
    """
    made = GPUArray(_array_of(array))
    made.to_device()
    return made


def _array_of(data: Any) -> Host:
    try:
        host = host_array(data)
    except TypeError:
        name = type(data).__name__
        if _is_on_device(data):
            text = f"{name} is a device array, which an Allocator shares"
        else:
            text = f"expected a NumPy array or a buffer, got {name}"
        raise UnsupportedDataType(text) from None
    supported(host.dtype)
    return host


def _is_on_device(data: Any) -> bool:
    if hasattr(data, "__cuda_array_interface__"):
        return True
    if not hasattr(data, "__dlpack_device__"):
        return False
    device_type, _ = data.__dlpack_device__()
    return bool(device_type != _HOST)


def _new_host_side(data: Any, dtype: Any, order: Order | None, copy: bool) -> Host:
    if isinstance(data, (list, tuple, int, np.integer)):
        return np.empty(data, supported("float64" if dtype is None else dtype), order or "C")
    host = _array_of(data)
    if dtype is not None and supported(dtype) != host.dtype:
        raise TypeError(f"the array is of type {host.dtype}, not {np.dtype(dtype)}")
    return host.copy(order or "K") if copy else host


def _sides_of(
    allocator: Any, order: Order | None
) -> tuple[Host, Order, _native.DeviceArray | None]:
    if isinstance(allocator, Allocator):
        device = allocator._device
        return allocator._host, order_of(device), device
    if isinstance(allocator, HostMemory):
        return allocator.get(), order or "C", None
    raise TypeError(f"expected an Allocator, got {type(allocator).__name__}")
