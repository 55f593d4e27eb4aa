"""CuPy's arrays in our memory.

CuPy allocates the memory of its arrays with a function that the program can set::

    cupy.cuda.set_allocator(pyarrow_cuda_compat.cupy.allocator)

`pyarrow_cuda_compat.set_allocator` is for the opposite direction.
"""

from operator import index
from typing import Any

from . import _native
from ._start.optional import required

__all__ = ["allocator"]


def allocator(size: int) -> Any:
    """Allocate memory for an array of CuPy, in the primary context of its current device.

    For ``cupy.cuda.set_allocator``, and for ``cupy.cuda.using_allocator``.
    `Context.bytes_allocated` counts the memory.

    Parameters
    ----------
    size : int
        The number of bytes.

    Returns
    -------
    memory : cupy.cuda.MemoryPointer
        Owns the memory, which can be used on any stream: the package reuses released
        memory when the work of all streams is complete that came before.

    Raises
    ------
    ImportError
        If CuPy is not installed.
    ValueError
        If `size` is negative.
    OutOfMemoryError
        If the device has too little free memory: an OSError and a MemoryError.

    Examples
    --------
    >>> from pyarrow_cuda_compat.cupy import allocator
    >>> callable(allocator)
    True

    ``cupy.cuda.set_allocator(allocator)`` makes CuPy use it.
    """
    size = index(size)
    if size < 0:
        raise ValueError(f"cannot allocate {size} bytes")
    cuda = required("cupy.cuda", "this needs CuPy: install cupy-cuda12x or cupy-cuda13x")
    device = cuda.runtime.getDevice()
    buffer = _native._allocate(_native.Context(device), size, is_own=True)
    memory = cuda.UnownedMemory(buffer.address, size, buffer, device)
    return cuda.MemoryPointer(memory, 0)
