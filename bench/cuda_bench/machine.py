"""The machine and the settings of a run."""

from __future__ import annotations

import ctypes
import os
import platform
import re
import subprocess
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from .driver import Driver, is_simulated, library_path


def described(driver: Driver) -> dict[str, object]:
    name = ctypes.create_string_buffer(256)
    driver.call("cuDeviceGetName", name, 256, 0)
    cuda = driver.answer("cuDriverGetVersion", ctypes.c_int)
    return {
        "gpu": name.value.decode(),
        "gpu_memory": driver.answer("cuDeviceTotalMem_v2", ctypes.c_size_t, 0),
        "is_simulated": is_simulated(),
        "driver": driver_version(),
        "driver_library": Path(library_path()).name,
        "cuda": f"{cuda // 1000}.{cuda % 1000 // 10}",
        "cpu": first_match("/proc/cpuinfo", r"model name\s*:\s*(.+)") or platform.machine(),
        "cores": cores(),
        "host_memory": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "huge_pages": first_match("/sys/kernel/mm/transparent_hugepage/enabled", r"\[(\w+)\]"),
        "kernel": platform.release(),
        "libc": " ".join(platform.libc_ver()),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def settings() -> dict[str, object]:
    """The variables for this package and other libraries, and how this package copies."""
    try:
        from pyarrow_cuda_compat import transfer_limits
    except ImportError:  # the others are measured all the same
        copies = {}
    else:
        copies = transfer_limits()
    names = ("PYARROW_CUDA_", "CUDA_VISIBLE_DEVICES", "NUMBA_CUDA_MEMORY_MANAGER", "OMP_NUM")
    chosen = {name: value for name, value in os.environ.items() if name.startswith(names)}
    # A library's path belongs to the machine.
    chosen.pop("PYARROW_CUDA_DRIVER", None)
    return {"environment": chosen, "transfer_limits": copies}


def cores() -> int:
    """The number of cores that this process may use."""
    return len(os.sched_getaffinity(0))


def available_memory() -> int:
    """The bytes that the host can still give."""
    return int(first_match("/proc/meminfo", r"MemAvailable:\s+(\d+) kB") or 0) * 1024


def driver_version() -> str:
    found = first_match("/proc/driver/nvidia/version", r"(\d+\.\d+[.\d]*)\s")
    if found or is_simulated():
        return found
    query = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    with suppress(OSError, subprocess.SubprocessError):
        found = subprocess.run(query, capture_output=True, text=True, timeout=20, check=True).stdout
    return found.partition("\n")[0].strip()


def first_match(path: str, pattern: str) -> str:
    with suppress(OSError):
        if found := re.search(pattern, Path(path).read_text()):
            return found[1].strip()
    return ""
