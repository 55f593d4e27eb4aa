"""The CUDA driver by ctypes: it shows the limits of the machine without any library."""

from __future__ import annotations

import ctypes
import importlib.util
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from ctypes import byref, c_char_p, c_size_t, c_uint, c_uint64, c_void_p
from pathlib import Path
from typing import Any

NON_BLOCKING = 1
WITHOUT_TIMING = 2
PORTABLE = 1

# A stream calls it with an address, which is the number of microseconds.
USLEEP = ctypes.CDLL(None).usleep

# Types for calls with plain integers; `Any`: ctypes has no type for types.
ARGUMENTS: dict[str, list[Any]] = {
    "cuMemcpyHtoD_v2": [c_uint64, c_void_p, c_size_t],
    "cuMemcpyDtoH_v2": [c_void_p, c_uint64, c_size_t],
    "cuMemcpyDtoD_v2": [c_uint64, c_uint64, c_size_t],
    "cuMemcpyHtoDAsync_v2": [c_uint64, c_void_p, c_size_t, c_void_p],
    "cuMemcpyDtoHAsync_v2": [c_void_p, c_uint64, c_size_t, c_void_p],
    "cuMemsetD8_v2": [c_uint64, ctypes.c_ubyte, c_size_t],
    "cuMemAlloc_v2": [c_void_p, c_size_t],
    "cuMemFree_v2": [c_uint64],
    "cuMemAllocAsync": [c_void_p, c_size_t, c_void_p],
    "cuMemFreeAsync": [c_uint64, c_void_p],
    "cuMemHostAlloc": [c_void_p, c_size_t, c_uint],
    "cuMemFreeHost": [c_void_p],
    "cuStreamSynchronize": [c_void_p],
    "cuStreamDestroy_v2": [c_void_p],
    "cuStreamWaitEvent": [c_void_p, c_void_p, c_uint],
    "cuLaunchHostFunc": [c_void_p, c_void_p, c_void_p],
    "cuEventRecord": [c_void_p, c_void_p],
    "cuEventSynchronize": [c_void_p],
    "cuEventDestroy_v2": [c_void_p],
    "cuCtxPushCurrent_v2": [c_void_p],
    "cuCtxSetCurrent": [c_void_p],
    "cuModuleGetFunction": [c_void_p, c_void_p, c_char_p],
    "cuModuleUnload": [c_void_p],
    "cuLaunchKernel": [c_void_p, *[c_uint] * 7, c_void_p, c_void_p, c_void_p],
}


class DriverError(Exception):
    """A function of the driver that failed."""


class Driver:
    """The driver that `PYARROW_CUDA_DRIVER` names, with the primary context of device 0."""

    def __init__(self) -> None:
        path = library_path()
        try:
            # The first lets other threads of Python run during a call; the second costs less.
            self._library = ctypes.CDLL(path)
            self._quick = ctypes.PyDLL(path)
        except OSError as error:
            raise DriverError(f"there is no CUDA driver: {error}") from None
        self.call("cuInit", 0)
        self.context = self.answer("cuDevicePrimaryCtxRetain", c_void_p, 0)
        self.enter()

    def function(self, name: str, *, quick: bool = False) -> Callable[..., int]:
        """A function of the driver, unchecked: the caller checks its result."""
        try:
            found = getattr(self._quick if quick else self._library, name)
        except AttributeError:
            raise DriverError(f"this driver has no {name}") from None
        if name in ARGUMENTS:
            found.argtypes = ARGUMENTS[name]
        return found  # type: ignore[no-any-return]

    def call(self, name: str, *arguments: object) -> None:
        code = self.function(name)(*arguments)
        if code != 0:
            text = c_char_p()
            self._library.cuGetErrorName(code, byref(text))
            raise DriverError(f"{name} answered {(text.value or b'error').decode()} ({code})")

    def answer(self, name: str, kind: Any, *arguments: object) -> int:
        """The number or handle that a function writes to its first argument."""
        value = kind()
        self.call(name, byref(value), *arguments)
        return value.value or 0

    def enter(self) -> None:
        """Makes the context current on this thread."""
        self.call("cuCtxSetCurrent", self.context)

    def allocate_pinned(self, size: int) -> int:
        return self.answer("cuMemHostAlloc", c_void_p, size, PORTABLE)

    def make_stream(self) -> int:
        return self.answer("cuStreamCreate", c_void_p, NON_BLOCKING)

    def make_event(self) -> int:
        return self.answer("cuEventCreate", c_void_p, WITHOUT_TIMING)

    @contextmanager
    def memory(self, size: int) -> Iterator[int]:
        """Device memory for the length of a `with`."""
        address = self.answer("cuMemAlloc_v2", c_uint64, size)
        try:
            yield address
        finally:
            self.call("cuMemFree_v2", address)

    def hold(self, streams: Sequence[int], seconds: float) -> None:
        """Keeps streams busy for a while: the first one sleeps, and the others wait for it."""
        first, *others = streams
        event = self.make_event()
        self.call("cuLaunchHostFunc", first, USLEEP, int(seconds * 1e6))
        self.call("cuEventRecord", event, first)
        for stream in others:
            self.call("cuStreamWaitEvent", stream, event, 0)
        self.call("cuEventDestroy_v2", event)

    def free_memory(self) -> int:
        """The bytes that the device can still give."""
        size = c_size_t()
        return self.answer("cuMemGetInfo_v2", c_size_t, byref(size))


def library_path() -> str:
    path = os.environ.get("PYARROW_CUDA_DRIVER") or "libcuda.so.1"
    if path != "sim":
        return path
    package = importlib.util.find_spec("pyarrow_cuda_compat")
    if package is None or package.origin is None:
        raise DriverError("the simulated driver comes with the package, which is not installed")
    return str(Path(package.origin).parent / "lib" / "libcuda_sim.so")


def is_simulated() -> bool:
    return library_path().endswith("libcuda_sim.so")
