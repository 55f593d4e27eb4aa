"""The machine: its CUDA driver by ctypes, which shows the limits without any library; facts."""

import ctypes
import importlib.util
import os
import platform
import re
from collections.abc import Callable
from contextlib import suppress
from ctypes import byref, c_char_p, c_uint64, c_void_p
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import numpy as np

# As many as this process may use.
CORES = len(os.sched_getaffinity(0))
NON_BLOCKING = 1
PORTABLE = 1


class DriverError(Exception):
    """A function of the driver that failed."""


class Owned:
    """Memory, or a handle, that the driver releases with the last reference to this object."""

    def __init__(self, value: int, release: Callable[[], int]) -> None:
        self.value, self.release = value, release
        self._as_parameter_ = c_uint64(value)

    def __del__(self) -> None:
        self.release()


class Driver:
    """The driver that `PYARROW_CUDA_DRIVER` names, with the primary context of device 0."""

    def __init__(self) -> None:
        path = library_path()
        try:
            # The first lets other threads of Python run during a call; the second costs less.
            self.library, self.quick = ctypes.CDLL(path), ctypes.PyDLL(path)
        except OSError as error:
            raise DriverError(f"there is no CUDA driver: {error}") from None
        self.call("cuInit", 0)
        self.context = self.answer("cuDevicePrimaryCtxRetain", 0)
        # Makes the context current on a thread.
        self.enter = self.prepared("cuCtxSetCurrent", self.context)
        self.enter()

    def prepared(self, name: str, *arguments: object) -> Callable[[], int]:
        """A call that is ready to be timed: it returns the driver's code, and checks nothing.

        Integers are passed in 64 bits, of which a function reads those that it declares.
        """
        wide = [c_void_p(each) if isinstance(each, int) else each for each in arguments]
        return partial(getattr(self.library, name), *wide)

    def call(self, name: str, *arguments: object) -> None:
        code = self.prepared(name, *arguments)()
        if code != 0:
            text = c_char_p()
            self.library.cuGetErrorName(code, byref(text))
            raise DriverError(f"{name} answered {(text.value or b'error').decode()} ({code})")

    def answer(self, name: str, *arguments: object) -> int:
        """The number or handle that a function writes to its first argument."""
        value = c_uint64()
        self.call(name, byref(value), *arguments)
        return value.value

    def owned(self, make: str, release: str, *arguments: object) -> Owned:
        value = self.answer(make, *arguments)
        return Owned(value, self.prepared(release, value))

    def free_memory(self) -> int:
        """The bytes that the device can still give."""
        return self.answer("cuMemGetInfo_v2", byref(c_uint64()))


def library_path() -> str:
    path = os.environ.get("PYARROW_CUDA_DRIVER") or "libcuda.so.1"
    # The simulated one comes with the package.
    package = importlib.util.find_spec("pyarrow_cuda_compat") if path == "sim" else None
    return str(Path(package.origin or "").parent / "lib/libcuda_sim.so") if package else path


def described(driver: Driver) -> dict[str, object]:
    name = ctypes.create_string_buffer(256)
    driver.call("cuDeviceGetName", name, 256, 0)
    cuda = driver.answer("cuDriverGetVersion")
    return {
        "gpu": name.value.decode(),
        "gpu_memory": driver.answer("cuDeviceTotalMem_v2", 0),
        "is_simulated": library_path().endswith("libcuda_sim.so"),
        "driver": driver_version(),
        "driver_library": Path(library_path()).name,
        "cuda": f"{cuda // 1000}.{cuda % 1000 // 10}",
        "cpu": first_match("/proc/cpuinfo", r"model name\s*:\s*(.+)") or platform.machine(),
        "cores": CORES,
        "host_memory": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "huge_pages": first_match("/sys/kernel/mm/transparent_hugepage/enabled", r"\[(\w+)\]"),
        "kernel": platform.release(),
        "libc": " ".join(platform.libc_ver()),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def settings() -> dict[str, str]:
    """The variables for this package and other libraries."""
    names = ("PYARROW_CUDA_", "CUDA_VISIBLE_DEVICES", "NUMBA_CUDA_MEMORY_MANAGER", "OMP_NUM")
    chosen = {name for name in os.environ if name.startswith(names)}
    # A library's path belongs to the machine.
    return {name: os.environ[name] for name in chosen - {"PYARROW_CUDA_DRIVER"}}


def driver_version() -> str:
    text = ctypes.create_string_buffer(80)
    with suppress(OSError):
        management = ctypes.CDLL("libnvidia-ml.so.1")
        management.nvmlInit_v2()
        management.nvmlSystemGetDriverVersion(text, len(text))
    return text.value.decode()


def first_match(path: str, pattern: str) -> str:
    with suppress(OSError):
        if found := re.search(pattern, Path(path).read_text()):
            return found[1].strip()
    return ""
