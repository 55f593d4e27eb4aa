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
    """Allocate an array on the device, uninitialised.

    Parameters
    ----------
    shape : int or tuple of int
        The number of elements in each dimension.
    dtype : numpy.dtype, default numpy.float64
        The type of the elements.
    strides : int or tuple of int, optional
        The distance between neighbours in each dimension, in bytes.  Without it, the
        elements are contiguous.
    order : {'C', 'F'}, default 'C'
        Whether the last or the first dimension is the densest, without `strides`.
    stream : Stream, optional
        The stream that Numba binds the array to.  An allocation needs no stream here.

    Returns
    -------
    DeviceArray

    Raises
    ------
    ValueError
        If `order` is another one, or `strides` has another length than `shape`.
    TypeError
        If a length is not an integer.

    Examples
    --------
    >>> memory.device_array((2, 3), dtype="f4", order="F").strides
    (4, 8)
    """
    shape, dtype, steps = layouts.described(shape, dtype, strides, order)
    if strides is None:
        return DeviceArray.empty(shape, dtype, order, context=current_context())
    size, before = layouts.extent(shape, steps, dtype.itemsize)
    return DeviceArray(current_context().new_buffer(size), dtype, shape, steps, offset=before)


class DeviceNDArray(ABC):  # noqa: B024 - its only class is registered below
    """Numba's class of arrays on a device, which every `DeviceArray` is an instance of.

    A call makes a `DeviceArray`, with the arguments of Numba's constructor.

    Parameters
    ----------
    shape : int or tuple of int
        The number of elements in each dimension.
    strides : int or tuple of int
        The distance between neighbours in each dimension, in bytes.
    dtype : numpy.dtype
        The type of the elements.
    stream : Stream, optional
        The stream that Numba binds the array to.
    writeback : numpy.ndarray, optional
        An array of the host, of the same shape and dtype, to which ``to_host()`` copies the
        elements.
    gpu_data : CudaBuffer or numba.cuda.cudadrv.driver.MemoryPointer, optional
        The memory, which begins with the first element; newly allocated if not given.

    Returns
    -------
    DeviceArray

    Raises
    ------
    ValueError
        If `strides` has another length than `shape`, or the elements do not lie within the memory.

    Examples
    --------
    >>> host = np.zeros(3, np.int16)
    >>> array = memory.DeviceNDArray(3, 2, np.int16, writeback=host)
    >>> array[:] = np.array([1, 2, 3], np.int16)  # or a kernel
    >>> array.to_host()
    >>> host
    array([1, 2, 3], dtype=int16)
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
    """Allocate an array like another one, uninitialised.

    Parameters
    ----------
    ary : array
        An array on the host or on a device, whose shape, dtype and order the new one has.  Gaps
        between its elements are left out.
    stream : Stream, optional
        As for `device_array`.

    Returns
    -------
    DeviceArray

    Examples
    --------
    >>> memory.device_array_like(np.ones((2, 3), order="F")).strides
    (8, 16)
    """
    return device_array(**layouts.like(ary), stream=stream)


def to_device(obj: Any, stream: Any = 0, copy: bool = True, to: Any = None) -> Any:
    """Copy an array to the device.

    Parameters
    ----------
    obj : array_like
        An array of the host, or anything that ``numpy.asarray`` takes.  It has to lie in one piece;
        its order is kept.  An array that lies on a device already is not copied.
    stream : Stream, optional
        Queue the copy on this stream.  The call then returns at once if `obj` is in pinned
        memory, and otherwise waits for the stream.
    copy : bool, default True
        Whether to copy the elements, or only to allocate.
    to : DeviceArray, optional
        An array on the device to copy into.

    Returns
    -------
    DeviceArray
        A new array; `to`, if it is given; or a view of `obj`, if that is on a device.

    Raises
    ------
    ValueError
        If `obj` has gaps between its elements, nulls, or another shape than `to`.
    TypeError
        If the elements are objects or strings, or of another dtype than those of `to`.

    Examples
    --------
    >>> array = memory.to_device(np.arange(3))
    >>> array.copy_to_host()
    array([0, 1, 2])
    >>> memory.to_device(np.array([7, 8, 9]), to=array) is array
    True
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
    """Whether an object says that it is an array on a device.

    Parameters
    ----------
    obj : object
        Any object.

    Returns
    -------
    bool
        Whether it has ``__cuda_array_interface__``, whatever that contains.

    Examples
    --------
    >>> memory.is_cuda_array(memory.device_array(3)), memory.is_cuda_array(np.ones(3))
    (True, False)
    """
    return hasattr(obj, "__cuda_array_interface__")


def as_cuda_array(obj: Any, sync: bool = True) -> DeviceArray:
    """View an array of any library on the device.

    Parameters
    ----------
    obj : object
        An object with ``__cuda_array_interface__``.
    sync : bool, default True
        Whether to wait for the stream that the interface names.

    Returns
    -------
    DeviceArray
        A view of the same memory, which retains `obj`.

    Raises
    ------
    TypeError
        If the object has no such interface.
    NotImplementedError
        If the array is masked.

    Examples
    --------
    >>> theirs = memory.device_array((2, 3))  # or an array of CuPy
    >>> memory.as_cuda_array(theirs).address == theirs.address
    True
    """
    interface = getattr(obj, "__cuda_array_interface__", None)
    if interface is None:
        raise TypeError("*obj* doesn't implement the cuda array interface.")
    return from_cuda_array_interface(interface, owner=obj, sync=sync)


def from_cuda_array_interface(
    desc: Mapping[str, Any], owner: Any = None, sync: bool = True
) -> DeviceArray:
    """View the memory that a CUDA array interface describes.

    Parameters
    ----------
    desc : dict
        The value of ``__cuda_array_interface__``.
    owner : object, optional
        The object that keeps the memory valid.  The view retains it.
    sync : bool, default True
        Whether to wait for the stream that the interface names.

    Returns
    -------
    DeviceArray

    Raises
    ------
    NotImplementedError
        If the array is masked.
    BufferError
        If the owner is a tensor of PyTorch that is lazily conjugated or negated.

    Examples
    --------
    >>> theirs = memory.device_array((2, 3))
    >>> memory.from_cuda_array_interface(theirs.__cuda_array_interface__, owner=theirs).shape
    (2, 3)
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
    """Map an array of another process during a ``with`` block.

    Parameters
    ----------
    handle : bytes or sequence of int
        The 64 bytes of the driver's ``CUipcMemHandle``.  (`IpcArrayHandle.open` opens an array that
        this package has exported.)
    shape : int or tuple of int
        The number of elements in each dimension.
    dtype : numpy.dtype
        The type of the elements.
    strides : tuple of int, optional
        The distance between neighbours in each dimension, in bytes.
    offset : int, default 0
        Where in the allocation the first element begins, in bytes.

    Yields
    ------
    DeviceArray
        The other process's memory.  It is unmapped after the block, with the last array over it.

    Raises
    ------
    OSError
        If the memory cannot be mapped, for example in the process that exported it.

    Examples
    --------
    >>> try:
    ...     with memory.open_ipc_array(bytes(64), 3, "f8") as array:
    ...         print(array.copy_to_host())
    ... except OSError:
    ...     print("not the handle of another process's memory")
    not the handle of another process's memory
    """
    shape, dtype, steps = layouts.described(shape, dtype, strides, "C")
    size, before = layouts.extent(shape, steps, dtype.itemsize)
    # As `IpcMemHandle.serialize` writes it: the size, then the driver's handle.
    whole = offset + size - before
    message = whole.to_bytes(8, "little") + bytes(handle)
    buffer = current_context().open_ipc_buffer(IpcMemHandle.from_buffer(pa.py_buffer(message)))
    yield DeviceArray(buffer, dtype, shape, steps, offset=offset)
