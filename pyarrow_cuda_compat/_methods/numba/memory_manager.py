"""Numba's external memory manager: its arrays in memory of our contexts.

Numba wants a class of its own for that, and numba-cuda and numba-cuda-mlir each have theirs.
So there is one class for each, made of the same methods when a context of that package asks.
"""

import sys
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache, cached_property
from operator import index
from types import SimpleNamespace
from typing import Any

from ... import _native

OTHER_DRIVER = (
    "{package} uses another CUDA driver than this package, whose driver PYARROW_CUDA_DRIVER "
    "chooses: memory cannot be shared between them"
)

# The buffers behind Numba's pointers, by address.  Of buffers at one address, all but the last are
# of contexts that a reset has taken.
_buffers: dict[int, Any] = {}


def manager_for(context: Any) -> Any:
    """The memory manager for a Numba context; without one, an object with only the version."""
    if context is None:
        return SimpleNamespace(interface_version=_Methods.interface_version)
    driver = sys.modules.get(type(context).__module__)
    if not hasattr(driver, "HostOnlyCUDAMemoryManager"):
        raise TypeError(f"expected a Numba CUDA context, got {type(context).__name__}")
    return _class_of(driver)(context=context)


@cache
def _class_of(driver: Any) -> Any:
    bases = (_Methods, driver.HostOnlyCUDAMemoryManager)
    return type("ArrowMemoryManager", bases, {"__module__": __name__, "_driver": driver})


def allocated_part(memory: Any) -> Any:
    """The part of memory allocated here to which a Numba pointer points, as a buffer; or None."""
    owner = getattr(memory, "owner", None)
    return _part(_buffers.get(getattr(owner, "device_pointer_value", None) or 0), memory)


def _part(buffer: Any, memory: Any) -> Any:
    if buffer is None or not memory.size:
        return None
    offset = memory.device_pointer_value - buffer.address
    if offset < 0 or offset + memory.size > buffer.size:
        return None
    return buffer.slice(offset, memory.size)


class _Methods:
    """What `HostOnlyCUDAMemoryManager` leaves open, and what has to do with device memory."""

    # Numba's: the module with its classes; its context; pointers by key; releases to be made.
    _driver: Any
    context: Any
    allocations: Any
    deallocations: Any
    _attempt_allocation: Callable[[Callable[[], Any]], Any]

    interface_version = 1

    @cached_property
    def _ours(self) -> Any:
        number, handle = identity(self.context)
        try:
            primary = _native.Context(number)
            return primary if primary.handle == handle else _native.Context(number, handle)
        except (OSError, ValueError) as error:
            package = self._driver.__name__.removesuffix(".cudadrv.driver")
            raise RuntimeError(OTHER_DRIVER.format(package=package)) from error

    def initialize(self) -> None:
        # Numba's share of it may wait to be released: pinned and managed memory.
        if not self.deallocations.memory_capacity:
            self.deallocations.memory_capacity = self.get_memory_info().total

    def memalloc(self, size: int) -> Any:
        size = index(size)
        buffer = self._attempt_allocation(lambda: self._allocate(size))
        context = weakref.proxy(self.context)
        address = self._driver.binding.CUdeviceptr(buffer.address)
        if size == 0:
            return self._driver.MemoryPointer(context, address, 0)
        key = buffer.address
        _buffers[key] = buffer
        pointer = self._driver.AutoFreePointer(
            context, address, size, finalizer=self._finalizer(key, buffer.context)
        )
        # Numba's arrays refer to the pointer weakly, and count; `reset` forgets all of them.
        self.allocations[key] = pointer
        return pointer.own()

    def _allocate(self, size: int) -> Any:
        if size < 0:
            raise ValueError(f"cannot allocate {size} bytes")
        try:
            return _native._allocate(self._ours, size)
        except OSError as error:
            if not hasattr(error, "code"):
                raise
            code = error.code
            with suppress(ValueError):  # a driver may be newer than the bindings
                code = self._driver.binding.CUresult(code)
            raise self._driver.CudaAPIError(code, str(error)) from None

    def _finalizer(self, key: int, context: Any) -> Callable[[], None]:
        # Holds neither the manager nor the pointer, which would never go then.
        allocations, deallocations = self.allocations, self.deallocations

        def release() -> None:
            buffer = _buffers.get(key)
            if buffer is not None and buffer.context != context:
                return  # the next context has memory there
            allocations.pop(key, None)
            _buffers.pop(key, None)
            if buffer is not None and deallocations.is_disabled:
                deallocations.add_item(_forget, buffer, buffer.size)

        return release

    @contextmanager
    def defer_cleanup(self) -> Iterator[None]:
        try:
            with super().defer_cleanup():  # type: ignore[misc]
                yield
        finally:
            self.deallocations.clear()  # nothing happens within another such block

    def get_memory_info(self) -> Any:
        free, total = _native.mem_get_info(self._ours)
        return self._driver.MemoryInfo(free=free, total=total)

    def get_ipc_handle(self, memory: Any) -> Any:
        if not memory.size:
            raise ValueError("empty memory cannot be exported to other processes")
        part = allocated_part(memory)
        if part is None and isinstance(getattr(memory, "owner", None), _native.CudaBuffer):
            part = _part(memory.owner, memory)  # see `CudaBuffer.to_numba`
        if part is None:
            # The driver knows the allocation of what came back from elsewhere as foreign memory.
            base, _ = self._driver.device_extents(memory)
            part = _part(_buffers.get(int(base)), memory)
        if part is None:
            return self._driver.GetIpcHandleMixin.get_ipc_handle(self, memory)
        handle = self._driver.binding.CUipcMemHandle()
        handle.reserved, offset = _native._allocation_of(part.export_for_ipc())
        device = self._driver.driver.get_device(part.context.device_number)
        return self._driver.IpcHandle(
            memory, handle, memory.size, device.get_device_identity(), offset=offset
        )


def _forget(buffer: Any) -> None:
    """Releases a buffer, if it is the last one over its memory, by doing nothing with it."""


def identity(context: Any) -> tuple[int, int]:
    """Device number and handle of a Numba context.

    The handle is a `ctypes.c_void_p` up to numba-cuda 0.27, and later a `CUcontext`.
    """
    device = context.device
    return int(getattr(device, "id", device)), integer(context.handle)


def integer(handle: Any) -> int:
    value = getattr(handle, "value", handle)
    return int(value or 0)
