"""Numba's arrays in memory of this package's contexts.

With this module as its external memory manager, Numba allocates its arrays there::

    NUMBA_CUDA_MEMORY_MANAGER=pyarrow_cuda_compat.numba python program.py

or, before Numba creates a context, ``numba.cuda.set_memory_manager(memory_manager)``.  It works
with numba-cuda from 0.27 on, and with numba-cuda-mlir; importing this module imports neither.
"""

from typing import Any

from . import _native  # noqa: F401  # isort: skip  (waits for another thread's import)
from ._methods.numba.memory_manager import manager_for

__all__ = ["memory_manager"]


def memory_manager(context: Any = None) -> Any:
    """Let Numba allocate its arrays in memory of this package's contexts.

    Numba calls this function once for each context: set the environment variable
    ``NUMBA_CUDA_MEMORY_MANAGER=pyarrow_cuda_compat.numba``, or pass the function
    to Numba's ``set_memory_manager`` before Numba creates a context.

    `Context.bytes_allocated` then counts each array until it is released, and
    `CudaBuffer.from_numba` returns a buffer that owns the memory instead of a
    foreign view.  Memory that either package exports to other processes stays
    allocated until this process ends.  Memory is released at once with the last
    array over it; within Numba's ``defer_cleanup`` it is released at the end of
    the block.  Numba still allocates pinned, mapped and managed memory itself.

    Numba's ``Context.reset`` releases the memory of existing arrays, as it does
    without this manager; buffers from `CudaBuffer.from_numba` retain theirs.

    Parameters
    ----------
    context : numba.cuda.cudadrv.driver.Context, optional
        The context to allocate memory in, of numba-cuda or numba-cuda-mlir.
        Without one, the result only has an `interface_version`.

    Returns
    -------
    manager : numba.cuda.HostOnlyCUDAMemoryManager
        The memory manager of that context.

    Raises
    ------
    TypeError
        If `context` is not a Numba context.

    Examples
    --------
    >>> from pyarrow_cuda_compat.numba import memory_manager
    >>> memory_manager().interface_version
    1

    ``numba.cuda.set_memory_manager(memory_manager)`` makes Numba use it.
    """
    return manager_for(context)


# Where Numba looks for it.
_numba_memory_manager = memory_manager
