"""A view of a `SmartArray`, which shares both sides with it."""

from typing import Any

import numpy as np

from .._native import DeviceArray


class View:
    """A view: where it begins in the memory of both sides, in bytes, and its layout."""

    __slots__ = ("dtype", "is_writable", "offset", "shape", "strides")

    def __init__(self, offset: int, view: np.ndarray[Any, Any], is_writable: bool) -> None:
        self.offset = offset
        self.is_writable = is_writable
        self.shape = view.shape
        self.strides = view.strides
        self.dtype = view.dtype

    def on_host(self, whole: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        flat = whole.reshape(-1, order="A").view(np.uint8)
        view = np.ndarray(self.shape, self.dtype, flat, self.offset, self.strides)
        if not self.is_writable:  # of a broadcast array
            view.flags.writeable = False
        return view

    def on_device(self, whole: DeviceArray) -> DeviceArray:
        return DeviceArray(whole.buffer, self.dtype, self.shape, self.strides, offset=self.offset)
