"""RMM's arrays in our memory.

RMM allocates from memory resources, one for each device.  The one that this module makes gives it
memory of a context of this package::

    rmm.mr.set_current_device_resource(pyarrow_cuda_compat.rmm.memory_resource())

`pyarrow_cuda_compat.set_allocator` is for the opposite direction.
"""

from typing import Any

from . import _native
from ._start.optional import required

__all__ = ["memory_resource"]


def memory_resource(context: Any = None) -> Any:
    """Return a memory resource of RMM's that allocates in a context of this package.

    RMM, and the libraries that use it, such as cuDF, then share the package's cache of
    released memory.  `Context.bytes_allocated` counts what they allocate.

    Parameters
    ----------
    context : Context, int or str, optional
        The context, or a device's number or name, for its primary context; by default that of
        device 0.

    Returns
    -------
    resource : rmm.mr.CallbackMemoryResource
        Retains the memory until RMM deallocates it.  It can be used on any stream: the
        package reuses released memory when the work of all streams is complete that
        came before.

    Raises
    ------
    ImportError
        If RMM is not installed.
    TypeError
        If `context` is neither a Context nor a number.
    ValueError
        If no device has the number.

    Notes
    -----
    If the device has too little memory, RMM raises a MemoryError.  RMM takes the
    GIL for each allocation, so it is slower than with its own resources.

    Examples
    --------
    >>> from pyarrow_cuda_compat.rmm import memory_resource
    >>> callable(memory_resource)
    True

    ``rmm.mr.set_current_device_resource(memory_resource())`` makes RMM use it.
    """
    context = _native._context(0 if context is None else context)
    mr = required("rmm.mr", "this needs RMM: install rmm-cu12 or rmm-cu13")
    memory = _native._CallbackMemory(context)
    return mr.CallbackMemoryResource(memory.allocate, memory.deallocate)
