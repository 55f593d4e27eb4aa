"""The parts of Numba's driver modules that the memory manager uses, for tests without Numba.

Made after what numba-cuda 0.27 to 0.30 and numba-cuda-mlir 0.6 have in common; where they
differ, in the class of a context's handle, the test chooses.
"""

import ctypes
import enum
import sys
import weakref
from contextlib import contextmanager
from types import ModuleType, SimpleNamespace

MODULES = ("numba.cuda.cudadrv.driver", "numba_cuda_mlir.numba_cuda.cudadrv.driver")


class CUresult(enum.IntEnum):
    CUDA_ERROR_INVALID_VALUE = 1
    CUDA_ERROR_OUT_OF_MEMORY = 2


class CUcontext:
    """A handle as numba-cuda has it from 0.28 on."""

    def __init__(self, value):
        self._number = value

    def __int__(self):
        return self._number


class CUdeviceptr(CUcontext):
    pass


class CudaAPIError(Exception):
    def __init__(self, code, msg):
        super().__init__(code, msg)
        self.code, self.msg = code, msg


class Queue:
    """Releases that may wait, though none does here that has a size and is not held up."""

    def __init__(self):
        self.items, self.memory_capacity, self.held_up = [], 0, 0

    is_disabled = property(lambda self: self.held_up > 0)

    def add_item(self, dtor, handle, size):
        assert callable(dtor)
        assert dtor.__name__
        self.items.append((dtor, handle, size))
        self.clear()

    def clear(self):
        while self.items and not self.is_disabled:
            dtor, handle, _ = self.items.pop(0)
            dtor(handle)

    @contextmanager
    def disable(self):
        self.held_up += 1
        try:
            yield
        finally:
            self.held_up -= 1


class MemoryPointer:
    def __init__(self, context, pointer, size, owner=None, finalizer=None):
        if isinstance(pointer, ctypes.c_void_p):
            pointer = CUdeviceptr(int(pointer.value))  # so Numba takes no null pointer
        self.context, self.handle, self.size, self._owner = context, pointer, size, owner
        self.refct = 1
        if finalizer is not None:
            self._finalizer = weakref.finalize(self, finalizer)

    owner = property(lambda self: self if self._owner is None else self._owner)
    device_pointer_value = property(lambda self: int(self.handle) or None)

    def own(self):
        return OwnedPointer(weakref.proxy(self))

    def free(self):
        self._finalizer()

    def view(self, start, stop):
        address = CUdeviceptr(self.device_pointer_value + start)
        view = MemoryPointer(self.context, address, stop - start, owner=self.owner)
        if isinstance(self.owner, MemoryPointer):
            return OwnedPointer(weakref.proxy(self.owner), view)
        return view


class AutoFreePointer(MemoryPointer):
    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.refct -= 1


class OwnedPointer:
    """What arrays hold: it counts, and refers to the memory weakly."""

    def __init__(self, memory, view=None):
        self._view = view or memory
        memory.refct += 1

        def forget():
            try:
                memory.refct -= 1
                if memory.refct == 0:
                    memory.free()
            except ReferenceError:
                pass  # a reset was there first

        weakref.finalize(self, forget)

    def __getattr__(self, name):
        return getattr(self._view, name)


class HostOnlyCUDAMemoryManager:
    def __init__(self, *, context):
        self.context, self.allocations, self.deallocations = context, {}, Queue()

    def _attempt_allocation(self, allocate):
        try:
            return allocate()
        except CudaAPIError as error:
            if error.code != CUresult.CUDA_ERROR_OUT_OF_MEMORY:
                raise
            self.deallocations.clear()
            return allocate()

    def reset(self):
        self.allocations.clear()
        self.deallocations.clear()

    @contextmanager
    def defer_cleanup(self):
        with self.deallocations.disable():
            yield


class GetIpcHandleMixin:
    def get_ipc_handle(self, memory):
        return "Numba's own", memory


class Context:
    def __init__(self, device, handle):
        self.device, self.handle = device, handle
        self.memory_manager = None


def module(name, driver):
    """A Numba driver module over the driver in use."""
    made = ModuleType(name)

    def device_extents(memory):
        base, size = ctypes.c_uint64(), ctypes.c_size_t()
        address = ctypes.c_uint64(memory.device_pointer_value)
        driver.call("cuMemGetAddressRange_v2", ctypes.byref(base), ctypes.byref(size), address)
        return CUdeviceptr(base.value), CUdeviceptr(base.value + size.value)

    def device(number):
        return SimpleNamespace(id=number, get_device_identity=lambda: {"number": number})

    def handle():
        return SimpleNamespace(reserved=None)

    made.binding = SimpleNamespace(
        CUdeviceptr=CUdeviceptr, CUipcMemHandle=handle, CUresult=CUresult
    )
    made.device_extents = device_extents
    made.driver = SimpleNamespace(get_device=device)
    made.IpcHandle = lambda base, handle, size, source_info, offset: SimpleNamespace(
        base=base, handle=handle, size=size, source_info=source_info, offset=offset
    )
    made.MemoryInfo = lambda free, total: SimpleNamespace(free=free, total=total)
    made.Context = type("Context", (Context,), {"__module__": name})
    for shared in (
        CudaAPIError,
        AutoFreePointer,
        GetIpcHandleMixin,
        HostOnlyCUDAMemoryManager,
        MemoryPointer,
    ):
        # Each package has classes of its own.
        setattr(made, shared.__name__, type(shared.__name__, (shared,), {"__module__": name}))
    made.CudaAPIError = CudaAPIError
    return made


def install(name, driver, monkeypatch):
    made = module(name, driver)
    monkeypatch.setitem(sys.modules, name, made)
    return made
