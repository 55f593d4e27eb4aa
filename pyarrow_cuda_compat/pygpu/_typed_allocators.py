"""Memory for elements of one type: on the host, pinned there, or on the device."""

import numpy as np

from .. import _native
from ._devices import cudaGetDevice, current_context
from ._dtypes import Typed, for_each_type
from ._host_memory import described
from ._pointers import POINTERS, TypedPointer
from ._status import SUCCESS, answer, cudaError_t


def pinned(nbytes: int) -> tuple[_native.HostBuffer | None, cudaError_t]:
    """Pinned memory of the host, by the current device's context."""
    number, status = cudaGetDevice()
    if status is not SUCCESS:
        return None, status
    return answer(lambda: _native.new_host_buffer(nbytes, number), None)


class _TypedAllocator(Typed):
    """What the allocators of each kind have."""

    def __init__(self) -> None:
        self._pointer = POINTERS[self._dtype.name]()

    def ptr(self) -> TypedPointer:
        """Return the pointer to the memory, which it retains; null before memory is allocated.  It
        is safe unless the memory is on the device.  As PyGPU's `PagelockedAllocator_int64.ptr`.
        """
        return self._pointer


class TypedHostAllocator(_TypedAllocator):
    """Allocates memory of the host for elements of type ``int64``.  As PyGPU's
    `HostAllocator_int64`.
    """

    def allocate(self, size: int) -> None:
        """Allocate memory for `size` elements, uninitialised, and release what the allocator had
        before.  A negative size raises a `ValueError`.  As PyGPU's `HostAllocator_int64.allocate`.
        """
        self._pointer = self._pointer._to(np.empty(size, self._dtype))


class _DriversAllocator(_TypedAllocator):
    """Shared by the allocators that call the driver."""

    def allocate(self, size: int) -> cudaError_t:
        """Allocate memory for `size` elements, uninitialised, and release what the allocator had
        before.  The status is ``cudaErrorMemoryAllocation`` (2) if the device does not have that
        much memory, or if it cannot be pinned.  A negative size raises a `ValueError`.  As PyGPU's
        `DeviceAllocator_int64.allocate`.
        """
        shape, nbytes = described(size, self._dtype)
        self._pointer = type(self._pointer)()
        return self._fill(shape, nbytes)

    def _fill(self, shape: tuple[int, ...], nbytes: int) -> cudaError_t:
        """Has the pointer, which is null, point to new memory."""
        raise NotImplementedError


class TypedPagelockedAllocator(_DriversAllocator):
    """Allocates pinned memory of the host for elements of type ``int64``.  Copies between it and a
    device are the fastest, and kernels can use its address.  As PyGPU's
    `PagelockedAllocator_int64`.
    """

    def _fill(self, shape: tuple[int, ...], nbytes: int) -> cudaError_t:
        memory, status = pinned(nbytes)
        if memory is not None:
            self._pointer._point_to(np.ndarray(shape, self._dtype, memory))
        return status


class TypedDeviceAllocator(_DriversAllocator):
    """Allocates memory of the current device for elements of type ``int64``.  Its pointers are not
    safe.  As PyGPU's `DeviceAllocator_int64`.
    """

    def _fill(self, shape: tuple[int, ...], nbytes: int) -> cudaError_t:
        memory, status = answer(
            lambda: _native.DeviceArray.empty(shape, self._dtype, context=current_context()), None
        )
        if memory is not None:
            self._pointer = self._pointer._of(memory.address, memory)
        return status


(
    HostAllocator_int16,
    HostAllocator_int32,
    HostAllocator_int64,
    HostAllocator_uint16,
    HostAllocator_uint32,
    HostAllocator_uint64,
    HostAllocator_float32,
    HostAllocator_float64,
    HostAllocator_complex64,
    HostAllocator_complex128,
) = for_each_type(TypedHostAllocator, "HostAllocator")

(
    PagelockedAllocator_int16,
    PagelockedAllocator_int32,
    PagelockedAllocator_int64,
    PagelockedAllocator_uint16,
    PagelockedAllocator_uint32,
    PagelockedAllocator_uint64,
    PagelockedAllocator_float32,
    PagelockedAllocator_float64,
    PagelockedAllocator_complex64,
    PagelockedAllocator_complex128,
) = for_each_type(TypedPagelockedAllocator, "PagelockedAllocator")

(
    DeviceAllocator_int16,
    DeviceAllocator_int32,
    DeviceAllocator_int64,
    DeviceAllocator_uint16,
    DeviceAllocator_uint32,
    DeviceAllocator_uint64,
    DeviceAllocator_float32,
    DeviceAllocator_float64,
    DeviceAllocator_complex64,
    DeviceAllocator_complex128,
) = for_each_type(TypedDeviceAllocator, "DeviceAllocator")

_BASES = (TypedHostAllocator, TypedPagelockedAllocator, TypedDeviceAllocator)
# As in `_pointers`, out of sight of type checkers.
globals()["__all__"] = [each.__name__ for base in _BASES for each in base.__subclasses__()]
