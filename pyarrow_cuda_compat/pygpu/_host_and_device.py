"""Arrays with a side on the host and a side on the device, and the status of their calls."""

from __future__ import annotations

from collections.abc import Callable
from operator import index
from typing import Any

import numpy as np

from .. import _native
from .._layouts import Order, dense_strides, is_basic
from ._devices import current_context
from ._host_memory import Host, host_array, host_at
from ._pointers import POINTERS, TypedPointer
from ._status import SUCCESS, answer, attempt, cudaError_t


class HostAndDevice:
    """An array whose calls copy between its two sides, and return a status."""

    _host: Host
    # How the elements lie close together in memory that is allocated here.
    _order: Order
    _device: _native.DeviceArray | None
    # Of the last call to the device, and of the allocation.
    _status = _allocation = SUCCESS

    def _hold(self, host: Host, order: Order, device: _native.DeviceArray | None = None) -> None:
        self._host, self._order, self._device = host, order, device

    def _host_pointer(self) -> TypedPointer:
        return POINTERS[self._host.dtype.name]._to(self._host)

    def _device_pointer(self) -> TypedPointer:
        pointer, device = POINTERS[self._host.dtype.name], self._device
        return pointer() if device is None else pointer._of(device.address, device)

    def _strides(self) -> tuple[int, ...]:
        if self._device is not None:
            return self._device.strides
        return dense_strides(self._host.shape, self._host.itemsize, self._order)

    def allocate(self) -> cudaError_t:
        """Allocate memory on the current device, unless there is some already, and return the
        status.  That is ``cudaErrorMemoryAllocation`` (2) if the device does not have that much
        memory.  As PyGPU's `GPUArray.allocate`.
        """
        if self._device is None:
            host, order = self._host, self._order
            self._note_allocation(
                lambda: _native.DeviceArray.empty(
                    host.shape, host.dtype, order, context=current_context()
                )
            )
        return self._allocation

    def _note_allocation(self, allocate: Callable[[], _native.DeviceArray]) -> None:
        self._device, self._allocation = answer(allocate, None)
        self._status = self._allocation

    def to_device(self) -> cudaError_t:
        """Copy the side on the host to the device, and return the status, or that of an allocation
        that has failed.  A low-level array raises a `ValueError` if `allocate` was not called.  As
        PyGPU's `GPUArray.to_device`.
        """
        return self._call(lambda device: device.copy_to_device(self._host))

    def to_host(self) -> cudaError_t:
        """Copy the side on the device to the host, into the memory that it has there.  It raises a
        `ValueError` if this memory is read-only.  Status and other errors are those of `to_device`.
        As PyGPU's `GPUArray.to_host`.
        """
        return self._call(lambda device: device.copy_to_host(self._host))

    def set(self, host_data: Any) -> cudaError_t:
        """Copy other memory of the host to the device; the side on the host stays as it is.
        `host_data` is an array, a buffer, a pointer, or an address, which the caller vouches for.
        Elements of another type raise a `TypeError`, and another shape a `ValueError`.  Status and
        other errors are those of `to_device`.  As PyGPU's `GPUArray.set`.
        """
        if isinstance(host_data, (TypedPointer, int)):
            source = host_at(host_data, self._host.shape, self._host.dtype, self._order)
        else:
            source = host_array(host_data)
        return self._call(lambda device: device.copy_to_device(source))

    def set_val(self, idx: int, val: Any) -> cudaError_t:
        """Set one element on the device; the side on the host stays as it is.  `idx` is how many
        elements lie before it in memory.  It raises an `IndexError` if there is no such element.
        NumPy converts `val`.  Status and other errors are those of `to_device`.  As PyGPU's
        `GPUArray.set_val`.
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

    def _copy_part(self, other: HostAndDevice, key: Any) -> cudaError_t:
        """Copies the part of another array that an index expression names, on the device."""
        source = other._device
        if source is None:
            self._status = other._allocation
            return self._status
        return self._call(
            lambda target: target.copy_to_device(
                source[key] if is_basic(key) else source.copy_to_host()[key]
            )
        )
