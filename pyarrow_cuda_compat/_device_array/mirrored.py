"""Arrays with memory on the host and on a device, of which `SmartArray` and `pygpu` are made."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from .._native import Context, DeviceArray
from . import layouts

HOST, GPU = "host", "gpu"
Order = Literal["C", "F"]


class MirroredArray:
    """Memory for the same elements on the host, on a device, or on both.

    Memory is allocated and copied when a method is called.  `stale` names the side (`HOST` or
    `GPU`) that has older elements than the other one: copies keep it up to date, and the front
    sets it when one side changes.

    Memory that is allocated here is contiguous in `order`.
    """

    def __init__(
        self,
        shape: tuple[int, ...],
        dtype: np.dtype[Any],
        order: Order,
        *,
        host: np.ndarray[Any, Any] | None = None,
        device: DeviceArray | None = None,
    ) -> None:
        self.shape = shape
        self.dtype = dtype
        self.order = order
        self.host = host
        self.device = device
        self.stale: str | None = None

    @property
    def strides(self) -> tuple[int, ...]:
        """The distance between neighbours in each dimension of allocated memory, in bytes."""
        return layouts.dense_strides(self.shape, self.dtype.itemsize, self.order)

    def allocate_host(self) -> np.ndarray[Any, Any]:
        """Allocates uninitialised memory on the host, in place of any that is there."""
        self.host = np.empty(self.shape, self.dtype, self.order)
        return self.host

    def allocate_device(self, context: Context) -> DeviceArray:
        """Allocates uninitialised memory on a device, in place of any that is there."""
        self.device = DeviceArray.empty(self.shape, self.dtype, self.order, context=context)
        return self.device

    def to_host(self) -> None:
        """Copies the elements from the device to the host; both sides must have memory."""
        assert self.device is not None
        self.device.copy_to_host(self.host)
        self.stale = None

    def to_device(self) -> None:
        """Copies the elements from the host to the device; both sides must have memory."""
        assert self.host is not None
        assert self.device is not None
        self.device.copy_to_device(self.host)
        self.stale = None
