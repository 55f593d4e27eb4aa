"""Contexts and device memory, to Numba and back.

The bodies of ``Context.from_numba``, ``Context.to_numba``, ``CudaBuffer.from_numba`` and
``CudaBuffer.to_numba``.  They work with numba-cuda from 0.27 on, and with numba-cuda-mlir,
which has its own classes with the same attributes.

Importing this module imports neither package.  A Numba object shows which package it belongs to.
Without an object, this module uses the package that the program has imported, or `numba.cuda` if
the program has imported both or neither.
"""

import sys
from functools import cache
from importlib import import_module
from typing import Any

import pyarrow as pa

from ... import _native
from ..._start.optional import required
from .memory_manager import OTHER_DRIVER, allocated_part, identity, integer

_NUMBA = "numba.cuda"
_MLIR = "numba_cuda_mlir.cuda"


def context_from_numba(context: Any = None) -> Any:
    """View a Numba context as a Context.

    Parameters
    ----------
    context : numba.cuda.cudadrv.driver.Context, optional
        The context; Numba's current one by default.

    Returns
    -------
    shared_context : Context
        The same driver context, on the same device.

    Raises
    ------
    ImportError
        If the call needs Numba's CUDA support and it is not installed.
    TypeError
        If `context` is not a Numba context.

    Examples
    --------
    >>> import numba.cuda
    >>> ctx = cuda.Context.from_numba(numba.cuda.current_context())
    >>> ctx.device_number
    0
    """
    return _of_context(_current_context(_loaded()) if context is None else context)


def context_to_numba(self: Any) -> Any:
    """Return the context as a Numba context.

    Returns
    -------
    context : numba.cuda.cudadrv.driver.Context
        For the device's primary context, Numba's own object for the device;
        otherwise a new object, in which Numba does not run kernels.

    Raises
    ------
    ImportError
        If Numba's CUDA support is not installed.

    Examples
    --------
    >>> ctx.to_numba().device.id
    0
    """
    return _to_context(_loaded(), self)


def buffer_from_numba(mem: Any) -> Any:
    r"""View the memory of Numba's pointer as a CudaBuffer.

    Parameters
    ----------
    mem : numba.cuda.cudadrv.driver.MemoryPointer
        Device memory, such as the ``gpu_data`` of a device array.

    Returns
    -------
    cbuf : CudaBuffer
        The same memory.  It retains `mem`, and with it the memory.

    Raises
    ------
    TypeError
        If `mem` is not a Numba pointer.

    Examples
    --------
    >>> import numba.cuda
    >>> array = numba.cuda.to_device(np.array([3, 4], np.uint8))
    >>> cuda.CudaBuffer.from_numba(array.gpu_data).to_pybytes()
    b'\x03\x04'
    """
    try:
        address, size, context = mem.device_pointer_value, mem.size, mem.context
        own = allocated_part(mem)
    except ReferenceError:
        raise ValueError("a reset of its Numba context has released the memory") from None
    except AttributeError:
        raise TypeError(
            "expected a Numba MemoryPointer, such as the gpu_data of a device array, "
            f"got {type(mem).__name__}"
        ) from None
    if own is not None:
        return own
    if context is None:  # an external memory manager of Numba may leave it open
        is_mlir = type(mem).__module__.startswith("numba_cuda_mlir.")
        context = _current_context(_MLIR if is_mlir else _NUMBA)
    ours = _of_context(context)
    if size == 0:
        return ours.new_buffer(0)
    return ours.foreign_buffer(address or 0, size, base=mem)


def buffer_to_numba(self: Any) -> Any:
    """Return a Numba pointer to the buffer's memory.

    Returns
    -------
    mem : numba.cuda.cudadrv.driver.MemoryPointer
        Retains the buffer, so arrays over the pointer, and their slices, stay
        valid without it.

    Raises
    ------
    pyarrow.ArrowInvalid
        If the buffer is immutable.  Numba would write through the pointer.  Pass
        the buffer itself to kernels that only read.
    ImportError
        If Numba's CUDA support is not installed.

    Examples
    --------
    >>> from numba.cuda.cudadrv.devicearray import DeviceNDArray
    >>> buf = cuda.Context(0).buffer_from_data(bytes([1, 2, 3]))
    >>> array = DeviceNDArray((3,), (1,), np.uint8, gpu_data=buf.to_numba())
    >>> array.copy_to_host()
    array([1, 2, 3], dtype=uint8)
    """
    if not self.is_mutable:
        raise pa.ArrowInvalid(
            "the buffer is immutable, and Numba writes through its pointers: copy it, or pass the "
            "buffer itself to a kernel, which Numba compiles only if it does not write to it"
        )
    package = _loaded()
    driver = _driver(package)
    context = _to_context(package, self.context)
    address = self.address
    if address:
        # This fails if a reset has taken the context.
        address = self.context.get_device_address(address)
    # Not a `c_void_p`: Numba's constructor takes none that is null.
    pointer = driver.binding.CUdeviceptr(address)
    return driver.MemoryPointer(context, pointer, self.size, owner=self)


def _loaded() -> str:
    """The Numba package that the program uses."""
    return _MLIR if _MLIR in sys.modules and _NUMBA not in sys.modules else _NUMBA


def _import(package: str) -> Any:
    return required(
        package,
        "this needs Numba's CUDA support: install numba-cuda 0.27 or later "
        "(pip install numba-cuda), or import numba_cuda_mlir.cuda beforehand",
    )


def _driver(package: str) -> Any:
    """Its module with the classes `Context` and `MemoryPointer`."""
    _import(package)
    driver = import_module(f"{package}.cudadrv.driver")
    if getattr(driver, "binding", None) is None:
        raise ImportError(
            f"{package} works without cuda-bindings here: numba-cuda is older than 0.27, or "
            "Numba's own simulator is on (NUMBA_ENABLE_CUDASIM)"
        )
    return driver


def _current_context(package: str) -> Any:
    cuda = _import(package)
    gpu = cuda.gpus.current
    if gpu is None:
        # Numba pushes the first device's context then, and leaves it to the thread.
        return _native._in_context(cuda.current_context, _native.Context(0))
    # When Numba retains the device's primary context, it pops a context of the program's.
    _native._in_context(gpu.get_primary_context, _native.Context(gpu.id))
    return cuda.current_context()


def _of_context(context: Any) -> Any:
    try:
        number, handle = identity(context)
    except (AttributeError, TypeError):
        raise TypeError(f"expected a Numba CUDA context, got {type(context).__name__}") from None
    if handle == 0:
        raise ValueError("the Numba context has no handle")
    return _native.Context(number, handle)


def _to_context(package: str, context: Any) -> Any:
    driver = _driver(package)
    number = context.device_number
    # Numba refuses to work in contexts that are not primary, and for the primary one it has to
    # be its own object.  Making that one current first keeps Numba from leaving it current.
    gpus = _import(package).gpus
    if number >= len(gpus):
        raise RuntimeError(OTHER_DRIVER.format(package=package))
    own = _native._in_context(gpus[number].get_primary_context, _native.Context(number))
    handle = integer(own.handle)
    kind_of_handle: Any = type(own.handle)
    kind = _with_value(kind_of_handle)
    if handle == context.handle:
        if not isinstance(own.handle, kind):
            own.handle = kind(handle)
        return own
    if _native.Context(number).handle == context.handle:
        raise RuntimeError(OTHER_DRIVER.format(package=package))
    return driver.Context(own.device, kind(context.handle))


@cache
def _with_value(kind: Any) -> Any:
    """A class of handles that have `value`, as all had before numba-cuda 0.28.

    Code that reads `context.handle.value` still works, such as pyarrow's own tests.
    """
    if hasattr(kind, "value"):
        return kind
    return type(kind.__name__, (kind,), {"value": property(int), "__module__": kind.__module__})
