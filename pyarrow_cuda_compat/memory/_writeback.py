"""Device arrays that know an array of the host to copy their elements back to."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

from .._native import CudaBuffer, DeviceArray
from . import _layouts
from ._arrays import device_array

#: Device arrays are told apart by identity, and have no room for an attribute.
_writebacks: WeakKeyDictionary[DeviceArray, Any] = WeakKeyDictionary()


def DeviceNDArray(
    shape: Any,
    strides: Any,
    dtype: Any,
    stream: Any = 0,
    writeback: Any = None,
    gpu_data: Any = None,
) -> DeviceArray:
    """Make a device array as the constructor of Numba's class does.

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
    >>> import numpy as np
    >>> from pyarrow_cuda_compat import memory
    >>> host = np.zeros(3, np.int16)
    >>> array = memory.DeviceNDArray(3, 2, np.int16, writeback=host)
    >>> array[:] = np.array([1, 2, 3], np.int16)  # or a kernel
    >>> array.to_host()
    >>> host
    array([1, 2, 3], dtype=int16)
    """
    shape, dtype, steps = _layouts.described(shape, dtype, strides, "C")
    if gpu_data is None:
        array = device_array(shape, dtype, steps)
    else:
        if not isinstance(gpu_data, CudaBuffer):
            gpu_data = CudaBuffer.from_numba(gpu_data)
        array = DeviceArray(gpu_data, dtype, shape, steps)
    if writeback is not None:
        _writebacks[array] = writeback
    return array


def write_back(array: DeviceArray, stream: Any) -> None:
    """`DeviceArray.to_host`."""
    host = _writebacks.get(array)
    if host is None:
        raise ValueError("no associated writeback array")
    array.copy_to_host(host, stream)
