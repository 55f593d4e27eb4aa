"""Arrays in device memory."""

from abc import ABC
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from .. import _layouts as layouts
from .. import _native
from .._native import CudaBuffer, DeviceArray, IpcMemHandle
from ._current_device import current_context


def device_array(
    shape: Any,
    dtype: Any = np.float64,
    strides: Any = None,
    order: Literal["C", "F"] = "C",
    stream: Any = 0,
) -> DeviceArray:
    """Allocate an array on the device, uninitialised.  `strides` are in bytes.  An allocation needs
    no stream here, so `stream` changes nothing.  It raises a `ValueError` if `order` is neither C
    nor F, or `strides` has another length than `shape`.  A length that is not an integer raises a
    `TypeError`.  As `numba.cuda.device_array`.
    """
    shape, dtype, steps = layouts.described(shape, dtype, strides, order)
    if strides is None:
        return DeviceArray.empty(shape, dtype, order, context=current_context())
    size, before = layouts.extent(shape, steps, dtype.itemsize)
    return DeviceArray(current_context().new_buffer(size), dtype, shape, steps, offset=before)


class DeviceNDArray(ABC):  # noqa: B024 - its only class is registered below
    """Numba's class of arrays on a device, which every `DeviceArray` is an instance of.  A call
    makes a `DeviceArray`; subclasses cannot have instances.  `strides` are in bytes, and `stream`
    changes nothing.  ``to_host()`` copies the elements to `writeback`, an array of the host of the
    same shape and dtype.  `gpu_data` is a `CudaBuffer` or Numba's `MemoryPointer`, which begins
    with the first element; without it, memory is allocated.  It raises a `ValueError` if `strides`
    has another length than `shape`, or elements lie outside the memory.  As
    `numba.cuda.cudadrv.devicearray.DeviceNDArray`.
    """

    def __new__(  # type: ignore[misc]
        cls,
        shape: Any,
        strides: Any,
        dtype: Any,
        stream: Any = 0,
        writeback: Any = None,
        gpu_data: Any = None,
    ) -> DeviceArray:
        if cls is not DeviceNDArray:
            raise TypeError(
                f"{cls.__name__} cannot have instances: DeviceNDArray makes a DeviceArray"
            )
        shape, dtype, steps = layouts.described(shape, dtype, strides, "C")
        if gpu_data is None:
            array = device_array(shape, dtype, steps)
        else:
            if not isinstance(gpu_data, CudaBuffer):
                gpu_data = CudaBuffer.from_numba(gpu_data)
            array = DeviceArray(gpu_data, dtype, shape, steps)
        if writeback is not None:
            _native._set_writeback(array, writeback)
        return array


DeviceNDArray.register(DeviceArray)


def device_array_like(ary: Any, stream: Any = 0) -> DeviceArray:
    """Allocate an array on the device like another one, on the host or on a device, uninitialised.
    It has the other's shape, dtype and order, without gaps between its elements.  As
    `numba.cuda.device_array_like`.
    """
    return device_array(**layouts.like(ary), stream=stream)


def to_device(obj: Any, stream: Any = 0, copy: bool = True, to: Any = None) -> Any:
    """Copy an array, or anything that ``numpy.asarray`` takes, to the device.  It has to lie in one
    piece; its order is kept.  An array that lies on a device already is not copied: the result is a
    view of it.  With `stream`, the call returns at once if `obj` is in pinned memory, and otherwise
    waits for the stream.  Without `copy`, it only allocates.  With `to`, it copies into that array,
    and returns it.  It raises a `ValueError` if `obj` has gaps, nulls, or another shape than `to`.
    Objects, strings, or another dtype than that of `to` raise a `TypeError`.  As
    `numba.cuda.to_device`.
    """
    if to is not None:
        if copy:
            to.copy_to_device(obj, stream)
        return to
    if isinstance(obj, DeviceArray) or getattr(obj, "__cuda_memory__", False):
        return obj
    if is_cuda_array(obj):
        return as_cuda_array(obj)
    if isinstance(obj, pa.Array) and not obj.is_cpu:
        return DeviceArray(obj)
    _native._check_arrow(obj)
    host = np.asanyarray(obj)
    once = layouts.without_repetition(host)
    if not once.flags.c_contiguous and not once.flags.f_contiguous:
        raise ValueError(layouts.NOT_CONTIGUOUS)
    new = device_array_like(once)
    if copy:
        new.copy_to_device(once, stream)
    if once is host:
        return new
    return DeviceArray(new.buffer, new.dtype, host.shape, host.strides)


def is_cuda_array(obj: Any) -> bool:
    """Whether an object has ``__cuda_array_interface__``, whatever that contains.  As
    `numba.cuda.is_cuda_array`.
    """
    return hasattr(obj, "__cuda_array_interface__")


def as_cuda_array(obj: Any, sync: bool = True) -> DeviceArray:
    """View an array of any library on the device, by its ``__cuda_array_interface__``; the view
    retains it.  An object without this interface raises a `TypeError`, and a masked array a
    `NotImplementedError`.  As `numba.cuda.as_cuda_array`.
    """
    interface = getattr(obj, "__cuda_array_interface__", None)
    if interface is None:
        raise TypeError("*obj* doesn't implement the cuda array interface.")
    return from_cuda_array_interface(interface, owner=obj, sync=sync)


def from_cuda_array_interface(
    desc: Mapping[str, Any], owner: Any = None, sync: bool = True
) -> DeviceArray:
    """View the memory that a CUDA array interface describes; the view retains `owner`.  A masked
    array raises a `NotImplementedError`.  If `owner` is a tensor of PyTorch that is lazily
    conjugated or negated, it raises a `BufferError`.  As `numba.cuda.from_cuda_array_interface`.
    """
    if not isinstance(desc, Mapping):
        raise TypeError(f"expected a dict as a CUDA array interface, got {type(desc).__name__}")
    if desc.get("mask") is not None:
        raise NotImplementedError("Masked arrays are not supported")
    if not sync:
        desc = {**desc, "stream": None}
    _native._check_resolved(owner)
    # The owner may have other protocols, which would be asked first.
    return DeviceArray(SimpleNamespace(__cuda_array_interface__=desc, owner=owner))


@contextmanager
def open_ipc_array(
    handle: Any, shape: Any, dtype: Any, strides: Any = None, offset: int = 0
) -> Iterator[DeviceArray]:
    """Map an array of another process during a ``with`` block.  `handle` has the 64 bytes of the
    driver's ``CUipcMemHandle``; `strides` and `offset` are in bytes.  `IpcArrayHandle.open` opens
    an array that this package has exported.  The memory is unmapped after the block, with the last
    array over it.  It raises an `OSError` if the memory cannot be mapped, for example in the
    process that exported it.  As `numba.cuda.open_ipc_array`.
    """
    shape, dtype, steps = layouts.described(shape, dtype, strides, "C")
    size, before = layouts.extent(shape, steps, dtype.itemsize)
    # As `IpcMemHandle.serialize` writes it: the size, then the driver's handle.
    whole = offset + size - before
    message = whole.to_bytes(8, "little") + bytes(handle)
    buffer = current_context().open_ipc_buffer(IpcMemHandle.from_buffer(pa.py_buffer(message)))
    yield DeviceArray(buffer, dtype, shape, steps, offset=offset)
