"""Data on the host and on the device, and which of the two is up to date."""

from __future__ import annotations

import sys
import threading
from typing import Any

import numpy as np

from .._device_array import layouts
from .._native import DeviceArray, Event
from ..memory._current_device import current_context

HOST, GPU = "host", "gpu"
#: Streams that are ordered with copies without a stream: the legacy default one, by both its names.
_ORDERED = (0, 1)


class _Side:
    """An array, and what is known of it."""

    __slots__ = ("array", "is_valid", "may_be_lent")

    def __init__(self, array: Any, *, is_valid: bool, may_be_lent: bool = False) -> None:
        self.array = array
        self.is_valid = is_valid
        self.may_be_lent = may_be_lent

    def is_lent(self) -> bool:
        """Whether somebody else refers to the array, or may do so."""
        return self.may_be_lent or self._references() > _UNLENT

    def _references(self) -> int:
        return sys.getrefcount(self.array)


# As many as this version of Python counts for an array that only its side refers to.
_UNLENT = _Side(object(), is_valid=True)._references()


class TwoSides:
    """An array that exists on the host, on the device, or on both, in one layout without gaps.

    A side is allocated when it is asked for first, and copied when it is asked for and the other
    one has changed since.
    """

    def __init__(
        self, shape: tuple[int, ...], dtype: np.dtype[Any], strides: tuple[int, ...]
    ) -> None:
        self.shape = shape
        self.dtype = dtype
        self.strides = strides
        self._host: _Side | None = None
        self._gpu: _Side | None = None
        #: The last kernel on a stream that is not ordered with copies; whether it may still run.
        self._last_launch: Event | None = None
        self._may_run = False
        # A thread that copies has the other ones wait until the side is complete.
        self._lock = threading.RLock()

    @classmethod
    def of_host(cls, array: np.ndarray[Any, Any], *, is_adopted: bool) -> TwoSides:
        """Data that an array of the host has; somebody else may refer to an adopted one."""
        made = cls(array.shape, array.dtype, array.strides)
        # References to views of views go to the memory's owner, which nobody counts here.
        is_view = is_adopted and array.base is not None
        made._host = _Side(array, is_valid=True, may_be_lent=is_view)
        return made

    @classmethod
    def of_device(cls, array: DeviceArray) -> TwoSides:
        """Data that an array of the device has."""
        made = cls(array.shape, array.dtype, array.strides)
        made._gpu = _Side(array, is_valid=True)
        return made

    def allocate(self, where: str) -> None:
        """Makes the first side, whose elements are whatever the memory has."""
        if where == HOST:
            self._host = _Side(self._new_on_host(), is_valid=True)
        else:
            self._gpu = _Side(self._new_on_device(), is_valid=True)

    def get(self, where: str) -> Any:
        """The array of a side, up to date."""
        with self._lock:
            return self._on_host() if where == HOST else self._on_device()

    def host_memory(self) -> np.ndarray[Any, Any]:
        """The array of the host, up to date or not."""
        with self._lock:
            if self._host is None:
                self._host = _Side(self._new_on_host(), is_valid=False)
            array: np.ndarray[Any, Any] = self._host.array
            return array

    def _on_host(self) -> np.ndarray[Any, Any]:
        array = self.host_memory()
        side = self._host
        assert side is not None
        if side.is_valid:
            return array
        if not array.flags.writeable:  # somebody's constant
            array = side.array = self._new_on_host()
        assert self._gpu is not None
        self._wait()
        self._gpu.array.copy_to_host(array)
        side.is_valid = True
        return array

    def _on_device(self) -> DeviceArray:
        if self._gpu is None:
            self._gpu = _Side(self._new_on_device(), is_valid=False)
        side = self._gpu
        array: DeviceArray = side.array
        if not side.is_valid:
            assert self._host is not None
            self._wait()
            array.copy_to_device(self._host.array)
            side.is_valid = True
        return array

    def _wait(self) -> None:
        """Waits for the last kernel, if copies are not ordered behind it anyway."""
        if self._may_run and self._last_launch is not None:
            self._last_launch.synchronize()
            self._may_run = False

    def _new_on_host(self) -> np.ndarray[Any, Any]:
        return np.empty(self.shape, self.dtype, self._order())

    def _new_on_device(self) -> DeviceArray:
        return DeviceArray.empty(self.shape, self.dtype, self._order(), context=current_context())

    def _order(self) -> Any:
        return layouts.like(self)["order"]

    def changed(self, where: str) -> None:
        """Has the other side be stale; refreshes it at once if somebody else refers to it."""
        with self._lock:
            side, other = self._host, self._gpu
            if where == GPU:
                side, other = other, side
            if side is None:
                return  # what does not exist was not changed
            side.is_valid = True
            if other is not None:
                other.is_valid = False
                if other.is_lent():
                    self.get(HOST if where == GPU else GPU)

    def may_change_on_host(self) -> None:
        """Has the device's side be stale, since others have got the host's, and may write to it."""
        with self._lock:
            if self._gpu is not None:
                self._on_host()
                self._gpu.is_valid = False

    def may_change_on_device(self) -> None:
        """Has the host's side be stale, since others have got the device's, and may write to it."""
        with self._lock:
            if self._host is not None:
                self._host.is_valid = False

    def launched(self, stream: Any) -> None:
        """Says that a kernel which writes to the device's side was queued on a stream."""
        with self._lock:
            assert self._gpu is not None
            if _number(stream) not in _ORDERED:
                if self._last_launch is None:
                    self._last_launch = Event(self._gpu.array.context)
                self._last_launch.record(stream)
                self._may_run = True
            self.changed(GPU)


def _number(stream: Any) -> int:
    protocol = getattr(stream, "__cuda_stream__", None)
    return int(stream if protocol is None else protocol()[1])
