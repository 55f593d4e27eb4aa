"""The memory of a `SmartArray`: each side is brought up to date when it is asked for."""

from __future__ import annotations

import sys
import threading
from types import SimpleNamespace
from typing import Any

import numpy as np

from .. import _layouts as layouts
from .. import _native
from .._native import DeviceArray, Event
from ..memory._current_device import current_context

HOST, GPU = "host", "gpu"
#: Streams that are ordered with copies without a stream: the legacy default one, by both its names.
_ORDERED = (0, 1)


class CoherentArray:
    """An array with memory on the host, on a device, or on both, which threads may share.

    A side that is stale, because the other one has changed, is copied when it is asked for.

    A side that was handed out is refreshed as soon as the other one changes, because nobody asks
    for it again.
    """

    def __init__(
        self,
        shape: tuple[int, ...],
        dtype: np.dtype[Any],
        strides: tuple[int, ...],
        *,
        host: np.ndarray[Any, Any] | None = None,
        device: DeviceArray | None = None,
    ) -> None:
        self.shape, self.dtype, self.strides = shape, dtype, strides
        self.host, self.device = host, device
        self._stale: str | None = None
        #: The order of memory that is allocated here, without gaps.
        is_c = layouts.is_dense(shape, strides, dtype.itemsize, "C")
        self._order: layouts.Order = "C" if is_c else "F"
        # References to views of views go to the memory's owner, which nobody counts here.
        self._host_may_be_lent = False
        #: The last kernels on streams that are not ordered with copies, by the streams' handles:
        #: each stream, so that its handle stays its own, and an event after the kernel.
        self._launches: dict[int, tuple[Any, Event]] = {}
        # While a thread copies, others wait until the side is complete.
        self._lock = threading.RLock()

    @classmethod
    def of_host(cls, array: np.ndarray[Any, Any], *, is_adopted: bool) -> CoherentArray:
        """Takes an array of the host; others may refer to the memory of an adopted one."""
        made = cls(array.shape, array.dtype, array.strides, host=array)
        made._host_may_be_lent = is_adopted and array.base is not None
        return made

    @classmethod
    def of_device(cls, array: DeviceArray) -> CoherentArray:
        """Takes an array of the device."""
        return cls(array.shape, array.dtype, array.strides, device=array)

    def allocate(self, where: str) -> None:
        """Allocates a side, in place of any that is there."""
        if where == HOST:
            self.host = np.empty(self.shape, self.dtype, self._order)
        else:
            context = current_context()
            self.device = DeviceArray.empty(self.shape, self.dtype, self._order, context=context)

    def get(self, where: str) -> Any:
        """The array of a side, up to date; on the device after all kernels on the default stream,
        and on the one that the thread uses in its place."""
        with self._lock:
            if where == HOST:
                return self._on_host()
            array = self._on_device()
            self._order_copies()
            return array

    def get_for_kernel(self) -> DeviceArray:
        """The array of the device for a kernel, whose stream the caller has to order."""
        with self._lock:
            return self._on_device()

    def host_memory(self) -> np.ndarray[Any, Any]:
        """The array of the host, up to date or not."""
        with self._lock:
            if self.host is None:
                self.allocate(HOST)
                self._stale = HOST
            assert self.host is not None
            return self.host

    def _on_host(self) -> np.ndarray[Any, Any]:
        array = self.host_memory()
        if self._stale == HOST:
            is_constant = self._is_constant()
            if is_constant:
                array.flags.writeable = True
            elif not array.flags.writeable:  # somebody's constant
                self.allocate(HOST)
            self._wait()
            assert self.device is not None
            self.device.copy_to_host(self.host)
            if is_constant:  # writes could not be copied to the device
                array.flags.writeable = False
            self._stale = None
        return self.host_memory()

    def _is_constant(self) -> bool:
        """Whether the device's memory is read-only, so that the host's is a copy for reading."""
        return self.device is not None and not self.device.is_mutable

    def _on_device(self) -> DeviceArray:
        if self.device is None:
            self.allocate(GPU)
            self._stale = GPU
        assert self.device is not None
        if self._stale == GPU:
            self._wait()
            self.device.copy_to_device(self.host_memory())
            self._stale = None
        return self.device

    def _wait(self) -> None:
        """Waits for the last kernels after which copies are not ordered anyway."""
        while self._launches:
            _stream, event = next(iter(self._launches.values()))
            event.synchronize()
            self._forget_reached()
        # Inside `with stream:`, copies are made on that one, which the default one may not order.
        if self.device is not None:
            _native._order_current_stream(self.device.context)

    def _order_copies(self) -> None:
        """Orders copies after the last kernels, without waiting for them."""
        self._forget_reached()
        for _stream, event in self._launches.values():
            event.wait(0)
        assert self.device is not None
        # Kernels on the default stream are not noted.
        _native._order_current_stream(self.device.context)

    def _forget_reached(self) -> None:
        reached = [number for number, (_, event) in self._launches.items() if event.query()]
        for number in reached:
            del self._launches[number]

    def changed(self, where: str) -> None:
        """Marks the other side as stale, and refreshes it at once if others refer to it."""
        with self._lock:
            side, other = (self.host, self.device) if where == HOST else (self.device, self.host)
            if side is None:
                return  # memory that does not exist was not changed
            if where == HOST and self._is_constant():
                return
            self._stale = None
            if other is not None:
                self._stale = GPU if where == HOST else HOST
                side = other = None  # references that would count below
                if self._is_lent(self._stale):
                    self.get(self._stale)

    def _is_lent(self, where: str) -> bool:
        """Whether others refer to the array of a side, or may do so."""
        if where == HOST:
            return self._host_may_be_lent or _references(self, "host") > _UNLENT
        return _references(self, "device") > _UNLENT

    def may_change_on_host(self) -> None:
        """Marks the device's side as stale: others have got the host's, and may write to it."""
        with self._lock:
            if self.device is not None and not self._is_constant():
                self._on_host()
                self._stale = GPU

    def lend_device(self) -> DeviceArray:
        """The array of the device, up to date, for others who may write to it.

        The host's side is stale from then on.  In two steps, what another thread assigns between
        them would be lost.
        """
        with self._lock:
            array = self.get(GPU)
            if self.host is not None:
                self._stale = HOST
            assert isinstance(array, DeviceArray)
            return array

    def launched(self, stream: Any) -> None:
        """Records that a kernel which writes to the device's side was queued on a stream."""
        with self._lock:
            assert self.device is not None
            number = _number(stream)
            if number not in _ORDERED:
                if number not in self._launches:
                    self._forget_reached()
                    self._launches[number] = stream, Event(self.device.context)
                self._launches[number][1].record(stream)
            self.changed(GPU)


def _number(stream: Any) -> int:
    protocol = getattr(stream, "__cuda_stream__", None)
    return int(stream if protocol is None else protocol()[1])


def _references(array: Any, name: str) -> int:
    return sys.getrefcount(getattr(array, name))


# As many as this version of Python counts for an array that only a `CoherentArray` refers to.
_UNLENT = _references(SimpleNamespace(host=object()), "host")
