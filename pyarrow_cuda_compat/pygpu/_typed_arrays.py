"""Arrays of one type with a side on the host and a side on the device."""

from operator import index
from typing import Any

import numpy as np

from .. import _native
from .._layouts import Order
from ._devices import current_context
from ._dtypes import Typed, for_each_type
from ._host_and_device import HostAndDevice
from ._host_memory import Host, host_array, host_at, order_of
from ._pointers import TypedPointer
from ._status import WithStatus


class TypedArray(Typed, HostAndDevice, WithStatus):
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

    def _take(self, host: Host, order: Order | None = None) -> None:
        if host.dtype != self._dtype:
            name = type(self).__name__
            raise TypeError(f"{name} takes elements of type {self._dtype}, not {host.dtype}")
        self._hold(host, order or order_of(host))

    def _adopt(self, device: TypedPointer | int) -> None:
        address = int(device) if isinstance(device, TypedPointer) else index(device)

        def memory() -> _native.DeviceArray:
            buffer = current_context().foreign_buffer(address, self._host.nbytes, base=device)
            return _native.DeviceArray(buffer, self._dtype, self._host.shape, self._strides())

        self._note_allocation(memory)

    def size(self) -> int:
        """Return the number of elements.  As NumPy's `ndarray.size`."""
        return self._host.size

    def nbytes(self) -> int:
        """Return the size of each side in bytes.  As NumPy's `ndarray.nbytes`."""
        return self._host.nbytes

    def shape(self) -> list[int]:
        """Return the length of each dimension, as a list.  As NumPy's `ndarray.shape`."""
        return list(self._host.shape)

    def strides(self) -> list[int]:
        """Return the strides of the side on the device in bytes, as a list.  As NumPy's
        `ndarray.strides`.
        """
        return list(self._strides())

    def host_data(self) -> TypedPointer:
        """Return the pointer to the side on the host.  It is safe, and retains the memory.  As
        PyGPU's `DeviceArray_int64.host_data`.
        """
        return self._host_pointer()

    def device_data(self) -> TypedPointer:
        """Return the pointer to the side on the device; null before `allocate`.  It retains the
        memory.  As PyGPU's `DeviceArray_int64.device_data`.
        """
        return self._device_pointer()

    def allocated(self) -> bool:
        """Return whether there is memory on the device.
        As PyGPU's `DeviceArray_int64.allocated`."""
        return self._device is not None

    @property
    def __array_interface__(self) -> dict[str, Any]:
        return self._host.__array_interface__

    def __buffer__(self, flags: int, /) -> memoryview:
        return self._host.data


(
    DeviceArray_int16,
    DeviceArray_int32,
    DeviceArray_int64,
    DeviceArray_uint16,
    DeviceArray_uint32,
    DeviceArray_uint64,
    DeviceArray_float32,
    DeviceArray_float64,
    DeviceArray_complex64,
    DeviceArray_complex128,
) = for_each_type(TypedArray, "DeviceArray")

ARRAYS = {array._dtype.name: array for array in TypedArray.__subclasses__()}
# As in `_pointers`, out of sight of type checkers.
globals()["__all__"] = [array.__name__ for array in ARRAYS.values()]
