"""Arrays of one type with a side on the host and a side on the device."""

from __future__ import annotations

from collections.abc import Callable
from operator import index
from typing import Any, Self

import numpy as np

from .. import _native
from ._devices import current_context
from ._dtypes import Typed
from ._host_memory import (
    Host,
    Order,
    dense_strides,
    host_array,
    host_at,
    is_basic,
    order_of,
    reshaped,
)
from ._pointers import POINTERS, TypedPointer
from ._status import SUCCESS, answer, attempt, cudaError_t

__all__ = [
    "DeviceArray_complex64",
    "DeviceArray_complex128",
    "DeviceArray_float32",
    "DeviceArray_float64",
    "DeviceArray_int16",
    "DeviceArray_int32",
    "DeviceArray_int64",
    "DeviceArray_uint16",
    "DeviceArray_uint32",
    "DeviceArray_uint64",
]


class TypedArray(Typed):
    """An array of ``int64`` with a side on the host and a side on the device.

    The side on the device is dense: in Fortran order if that on the host is, and else in C order.
    It is not allocated unasked: `allocate` does that, on the device that is current then.

    NumPy takes the array for its side on the host, without a copy; with Python 3.12 and later,
    all that takes buffers does.

    Parameters
    ----------
    *arguments
        One of

        * a buffer, such as a NumPy array, of type ``int64``, which stays the side on the host;
        * a number of elements, or a list of lengths, for new memory of the host;
        * a safe pointer and a list of lengths, for the memory that it points to;
        * two addresses and a list of lengths, for memory of the host and memory of the device.
          The caller keeps both, and vouches for the first.
    flag_c_contiguous : int, default 1
        After a list of lengths: 1 for C order, 0 for Fortran order.

    Raises
    ------
    TypeError
        If the elements are of another type, or the memory is too small for the lengths.
    ValueError
        If the lengths are negative or too large.

    Examples
    --------
    >>> import numpy as np
    >>> import pyarrow_cuda_compat.pygpu as gpuarray
    >>> numbers = np.array([1, 2, 3], dtype="int64")
    >>> array = gpuarray.DeviceArray_int64(numbers)
    >>> array.allocate(), array.to_device()
    (<cudaError: code=0>, <cudaError: code=0>)
    >>> numbers[:] = 0
    >>> array.to_host()
    <cudaError: code=0>
    >>> bool((numbers == [1, 2, 3]).all())
    True
    """

    _host: Host
    _order: Order
    _device: _native.DeviceArray | None = None
    # Of the last call of the device, and of the allocation.
    _status = _allocation = SUCCESS

    def __init__(self, *arguments: Any, flag_c_contiguous: int = 1) -> None:
        if len(arguments) > 1 and isinstance(arguments[-2], (list, tuple)):
            *others, flag_c_contiguous = arguments
            arguments = tuple(others)
        order: Order = "C" if flag_c_contiguous else "F"
        match arguments:
            case [list() | tuple() as shape]:
                self._take(np.empty(shape, self._dtype, order))
            case [int() | np.integer() as size]:
                self._take(np.empty(size, self._dtype))
            case [buffer]:
                self._take(host_array(buffer))
            case [host, list() | tuple() as shape]:
                self._take(host_at(host, shape, self._dtype, order), order)
            case [host, device, list() | tuple() as shape]:
                self._take(host_at(host, shape, self._dtype, order), order)
                self._adopt(device)
            case _:
                name = type(self).__name__
                raise TypeError(f"{name}() takes a buffer, a size, or memory and a list of lengths")

    @classmethod
    def _over(cls, host: Host, order: Order, device: _native.DeviceArray | None = None) -> Self:
        """An array of these two sides."""
        array = cls.__new__(cls)
        array._take(host, order)
        array._device = device
        return array

    def _take(self, host: Host, order: Order | None = None) -> None:
        if host.dtype != self._dtype:
            name = type(self).__name__
            raise TypeError(f"{name} takes elements of type {self._dtype}, not {host.dtype}")
        self._host, self._order = host, order or order_of(host)

    def _adopt(self, device: TypedPointer | int) -> None:
        address = int(device) if isinstance(device, TypedPointer) else index(device)

        def memory() -> _native.DeviceArray:
            buffer = current_context().foreign_buffer(address, self._host.nbytes, base=device)
            return _native.DeviceArray(buffer, self._dtype, self._host.shape, self._strides())

        self._device, self._allocation = answer(memory, None)
        self._status = self._allocation

    def size(self) -> int:
        """Return the number of elements.

        Returns
        -------
        size : int

        Examples
        --------
        >>> import pyarrow_cuda_compat.pygpu as gpuarray
        >>> gpuarray.DeviceArray_int64([2, 3]).size()
        6
        """
        return self._host.size

    def nbytes(self) -> int:
        """Return the size of each side in bytes.

        Returns
        -------
        nbytes : int

        Examples
        --------
        >>> import pyarrow_cuda_compat.pygpu as gpuarray
        >>> gpuarray.DeviceArray_int64([2, 3]).nbytes()
        48
        """
        return self._host.nbytes

    def shape(self) -> list[int]:
        """Return the length of each dimension.

        Returns
        -------
        shape : list of int

        Examples
        --------
        >>> import pyarrow_cuda_compat.pygpu as gpuarray
        >>> gpuarray.DeviceArray_int64([2, 3]).shape()
        [2, 3]
        """
        return list(self._host.shape)

    def strides(self) -> list[int]:
        """Return the distances between neighbours on the device in each dimension.

        Returns
        -------
        strides : list of int
            In bytes.

        Examples
        --------
        >>> import pyarrow_cuda_compat.pygpu as gpuarray
        >>> gpuarray.DeviceArray_int64([2, 3]).strides()
        [24, 8]
        """
        return list(self._strides())

    def _strides(self) -> tuple[int, ...]:
        if self._device is not None:
            return self._device.strides
        return dense_strides(self._host.shape, self._dtype.itemsize, self._order)

    def host_data(self) -> TypedPointer:
        """Return the pointer to the side on the host.

        Returns
        -------
        pointer : pointer_wrapper_int64
            It is safe, and retains the memory.

        Examples
        --------
        >>> import pyarrow_cuda_compat.pygpu as gpuarray
        >>> array = gpuarray.DeviceArray_int64(3)
        >>> array.host_data().get()[:] = 7
        """
        return POINTERS[self._dtype.name]._to(self._host)

    def device_data(self) -> TypedPointer:
        """Return the pointer to the side on the device.

        Returns
        -------
        pointer : pointer_wrapper_int64
            Null before `allocate`.  It retains the memory.

        Examples
        --------
        >>> import pyarrow_cuda_compat.pygpu as gpuarray
        >>> array = gpuarray.DeviceArray_int64(3)
        >>> int(array.device_data())
        0
        >>> array.allocate()
        <cudaError: code=0>
        >>> int(array.device_data()) > 0
        True
        """
        pointer = POINTERS[self._dtype.name]
        return (
            pointer() if self._device is None else pointer._of(self._device.address, self._device)
        )

    def last_status(self) -> cudaError_t:
        """Return the status of the array's last call of the device.

        Returns
        -------
        status : cudaError_t
            Success before the first one.

        Examples
        --------
        >>> import pyarrow_cuda_compat.pygpu as gpuarray
        >>> array = gpuarray.DeviceArray_int64(3)
        >>> array.allocate() == array.last_status()
        True
        """
        return self._status

    def allocated(self) -> bool:
        """Return whether there is memory on the device.

        Returns
        -------
        is_allocated : bool

        Examples
        --------
        >>> import pyarrow_cuda_compat.pygpu as gpuarray
        >>> gpuarray.DeviceArray_int64(3).allocated()
        False
        """
        return self._device is not None

    def allocate(self) -> cudaError_t:
        """Allocate memory on the current device, unless there is some already.

        Returns
        -------
        status : cudaError_t
            ``cudaErrorMemoryAllocation`` (2) if the device does not have so much memory.

        Examples
        --------
        >>> import pyarrow_cuda_compat.pygpu as gpuarray
        >>> gpuarray.DeviceArray_int64(3).allocate()
        <cudaError: code=0>
        """
        if self._device is None:
            self._device, self._allocation = answer(self._new_memory, None)
            self._status = self._allocation
        return self._allocation

    def _new_memory(self) -> _native.DeviceArray:
        return _native.DeviceArray.empty(
            self._host.shape, self._dtype, self._order, context=current_context()
        )

    def to_device(self) -> cudaError_t:
        """Copy the side on the host to the device.

        Returns
        -------
        status : cudaError_t
            That of the allocation, if it has failed.

        Raises
        ------
        ValueError
            If `allocate` was not called.

        Examples
        --------
        >>> import numpy as np
        >>> import pyarrow_cuda_compat.pygpu as gpuarray
        >>> array = gpuarray.DeviceArray_int64(np.array([1, 2, 3], dtype="int64"))
        >>> array.allocate(), array.to_device()
        (<cudaError: code=0>, <cudaError: code=0>)
        """
        return self._call(lambda device: device.copy_to_device(self._host))

    def to_host(self) -> cudaError_t:
        """Copy the side on the device to the host, into the memory that it has there.

        Returns
        -------
        status : cudaError_t
            That of the allocation, if it has failed.

        Raises
        ------
        ValueError
            If `allocate` was not called, or the memory on the host is read-only.

        Examples
        --------
        >>> import pyarrow_cuda_compat.pygpu as gpuarray
        >>> array = gpuarray.DeviceArray_int64(3)
        >>> array.allocate(), array.to_host()
        (<cudaError: code=0>, <cudaError: code=0>)
        """
        return self._call(lambda device: device.copy_to_host(self._host))

    def set(self, host_data: Any) -> cudaError_t:
        """Copy other memory of the host to the device.

        The side on the host stays as it is.

        Parameters
        ----------
        host_data : numpy.ndarray, buffer, pointer or int
            As many elements of the same type and shape, or where they begin.  The caller vouches
            for a bare address.

        Returns
        -------
        status : cudaError_t
            That of the allocation, if it has failed.

        Raises
        ------
        TypeError
            If the elements are of another type.
        ValueError
            If the shape is another one, or `allocate` was not called.

        Examples
        --------
        >>> import numpy as np
        >>> import pyarrow_cuda_compat.pygpu as gpuarray
        >>> array = gpuarray.DeviceArray_int64(3)
        >>> array.allocate(), array.set(np.array([7, 8, 9], dtype="int64")), array.to_host()
        (<cudaError: code=0>, <cudaError: code=0>, <cudaError: code=0>)
        >>> np.asarray(array).tolist()
        [7, 8, 9]
        """
        if isinstance(host_data, (TypedPointer, int)):
            source = host_at(host_data, self._host.shape, self._dtype, self._order)
        else:
            source = host_array(host_data)
        return self._call(lambda device: device.copy_to_device(source))

    def set_val(self, idx: int, val: Any) -> cudaError_t:
        """Set one element on the device.

        The side on the host stays as it is.

        Parameters
        ----------
        idx : int
            How many elements lie before it in memory.
        val : scalar
            What NumPy can convert to the type of the elements.

        Returns
        -------
        status : cudaError_t
            That of the allocation, if it has failed.

        Raises
        ------
        IndexError
            If there is no such element.
        ValueError
            If `allocate` was not called.

        Examples
        --------
        >>> import numpy as np
        >>> import pyarrow_cuda_compat.pygpu as gpuarray
        >>> array = gpuarray.DeviceArray_int64(np.array([1, 2, 3], dtype="int64"))
        >>> array.allocate(), array.to_device(), array.set_val(2, 9)
        (<cudaError: code=0>, <cudaError: code=0>, <cudaError: code=0>)
        >>> array.to_host()
        <cudaError: code=0>
        >>> np.asarray(array).tolist()
        [1, 2, 9]
        """
        position, size = index(idx), self._host.size
        if not 0 <= position < size:
            raise IndexError(f"index {position} is out of bounds for axis 0 with size {size}")
        place = np.unravel_index(position, self._host.shape, self._order)
        return self._call(lambda device: device.__setitem__(tuple(map(int, place)), val))

    def _call(self, call: Callable[[_native.DeviceArray], object]) -> cudaError_t:
        device = self._device
        if device is not None:
            self._status = attempt(lambda: call(device))
            return self._status
        if self._allocation is SUCCESS:
            raise ValueError("the array has no memory on the device: call allocate() first")
        return self._allocation

    def _copy_part(self, other: TypedArray, key: Any) -> cudaError_t:
        """Copies what an index expression names in another array, on the device."""
        source = other._device
        if source is None:
            self._status = other._allocation
            return self._status
        return self._call(
            lambda target: target.copy_to_device(
                source[key] if is_basic(key) else source.copy_to_host()[key]
            )
        )

    def _is_c_contiguous(self) -> bool:
        return self._order == "C" if self._device is None else self._device.is_c_contiguous()

    def _reshape(self, shape: Any) -> None:
        host = reshaped(self._host, shape)
        if self._device is not None:
            self._device = self._device.reshape(host.shape)
        self._host = host

    @property
    def __array_interface__(self) -> dict[str, Any]:
        return self._host.__array_interface__

    def __buffer__(self, flags: int, /) -> memoryview:
        return self._host.data


class DeviceArray_int16(TypedArray): ...


class DeviceArray_int32(TypedArray): ...


class DeviceArray_int64(TypedArray): ...


class DeviceArray_uint16(TypedArray): ...


class DeviceArray_uint32(TypedArray): ...


class DeviceArray_uint64(TypedArray): ...


class DeviceArray_float32(TypedArray): ...


class DeviceArray_float64(TypedArray): ...


class DeviceArray_complex64(TypedArray): ...


class DeviceArray_complex128(TypedArray): ...


ARRAYS = {array._dtype.name: array for array in TypedArray.__subclasses__()}
