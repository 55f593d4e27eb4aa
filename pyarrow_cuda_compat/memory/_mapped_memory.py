"""Arrays in host memory that the device can access, too."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _layouts as layouts
from ._current_device import current_context
from ._device_memory import as_cuda_array
from ._pinned_memory import pinned_array


def mapped_array(
    shape: Any,
    dtype: Any = np.float64,
    strides: Any = None,
    order: str = "C",
    stream: Any = 0,
    portable: bool = False,
    wc: bool = False,
) -> MappedNDArray:
    """Allocate an array that the host and the device share, uninitialised.  It is a NumPy array in
    pinned memory, which kernels take as an array on the device.  `stream`, `portable` and `wc`
    change nothing: all devices have access to the memory, and it is not write-combined.  Errors are
    those of `pinned_array`.  As `numba.cuda.mapped_array`.
    """
    array = pinned_array(shape, dtype, strides, order)
    return MappedNDArray._over(array)


def mapped_array_like(
    ary: Any, stream: Any = 0, portable: bool = False, wc: bool = False
) -> MappedNDArray:
    """Allocate an array like another one that the host and the device share, uninitialised.  The
    other one may be on the host or on a device.  As `numba.cuda.mapped_array_like`.
    """
    return mapped_array(**layouts.like(ary), stream=stream, portable=portable, wc=wc)


class MappedNDArray(np.ndarray[Any, Any]):
    """A NumPy array whose memory the device can access, too, from `mapped_array`.  Views and slices
    are such arrays, too.  What NumPy computes is an ordinary array.  Kernels write while the host
    continues: wait for them before the host reads.  As
    `numba.cuda.cudadrv.devicearray.MappedNDArray`.
    """

    #: Where the memory begins and ends on the host, and how far from there the device has it.
    _memory: tuple[int, int, int] | None = None

    @classmethod
    def _over(cls, array: np.ndarray[Any, Any]) -> MappedNDArray:
        mapped = array.view(cls)
        if array.nbytes:
            first, end = layouts.bounds(array)
            mapped._memory = first, end, current_context().get_device_address(first) - first
        return mapped

    def __array_finalize__(self, obj: Any) -> None:
        self._memory = getattr(obj, "_memory", None)

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        # New memory is not mapped.
        return array[()] if return_scalar else np.asarray(array)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """The memory as the device sees it.  Copies are not mapped, and lack this attribute."""
        shift = self._shift()
        if shift is None:
            raise AttributeError("a copy of a mapped array is not mapped")
        interface = dict(self.__array_interface__)
        address, is_read_only = interface["data"]
        interface.update(data=(address + shift, is_read_only), version=3, stream=None)
        return interface

    def _shift(self) -> int | None:
        """How far from its place on the host the device has the array; none for a copy."""
        if not self.nbytes:
            return -layouts.address_of(self)
        if self._memory is None:
            return None
        first, end, shift = self._memory
        own_first, own_end = layouts.bounds(self)
        return shift if first <= own_first and own_end <= end else None

    def copy_to_host(self, ary: Any = None, stream: Any = 0) -> np.ndarray[Any, Any]:
        """Copy the elements as a device array's, to `ary` or to a new array, which is returned.  As
        `numba.cuda.cudadrv.devicearray.MappedNDArray.copy_to_host`.
        """
        copied: np.ndarray[Any, Any] = as_cuda_array(self).copy_to_host(ary, stream)
        return copied

    def copy_to_device(self, ary: Any, stream: Any = 0) -> None:
        """Copy elements into this array as into a device array, from the host or from a device.  As
        `numba.cuda.cudadrv.devicearray.MappedNDArray.copy_to_device`.
        """
        as_cuda_array(self).copy_to_device(ary, stream)
