"""A second, independent view on the driver library that the package uses."""

import ctypes
import os
from pathlib import Path

CHOSEN = os.environ.get("PYARROW_CUDA_DRIVER") or "libcuda.so.1"
IS_SIMULATOR = CHOSEN == "sim" or CHOSEN.endswith("libcuda_sim.so")

#: Small copies to the host go through the second one, unless they have to wait for their turn.
DOWN = (b"cuMemcpyDtoH_v2", b"cuMemcpyDtoHAsync_v2")


class Driver:
    """Calls functions of a driver library, past the package."""

    def __init__(self, path):
        self.library = ctypes.CDLL(path)

    def call(self, name, *arguments):
        """Calls a function and asserts that it succeeds."""
        code = getattr(self.library, name)(*arguments)
        assert code == 0, f"{name} answered {code}"

    def current(self):
        """The handle of the calling thread's current context, 0 for none."""
        context = ctypes.c_void_p()
        self.call("cuCtxGetCurrent", ctypes.byref(context))
        return context.value or 0

    def set_current(self, handle):
        self.call("cuCtxSetCurrent", ctypes.c_void_p(handle or None))

    def create_context(self, device=0):
        """Makes a context and leaves the thread's stack as it was."""
        context = ctypes.c_void_p()
        self.call("cuCtxCreate_v2", ctypes.byref(context), 0, device)
        self.call("cuCtxPopCurrent_v2", ctypes.byref(ctypes.c_void_p()))
        return context.value

    def destroy_context(self, handle):
        self.call("cuCtxDestroy_v2", ctypes.c_void_p(handle))

    def memory_info(self):
        """Free and total bytes of the current context's device."""
        free, total = ctypes.c_size_t(), ctypes.c_size_t()
        self.call("cuMemGetInfo_v2", ctypes.byref(free), ctypes.byref(total))
        return free.value, total.value

    def read(self, address, size):
        """Device memory as bytes, whatever buffers say of it; needs a current context."""
        out = ctypes.create_string_buffer(size)
        self.call("cuMemcpyDtoH_v2", out, ctypes.c_uint64(address), ctypes.c_size_t(size))
        return out.raw[:size]


def the_driver():
    """The library that this process was told to use."""
    path = CHOSEN
    if path == "sim":
        import pyarrow_cuda_compat

        path = Path(pyarrow_cuda_compat.__file__).parent / "lib" / "libcuda_sim.so"
    return Driver(str(path))
