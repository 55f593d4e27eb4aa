"""What a result was measured with."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from .driver import Driver, is_simulated, library_path


def described(driver: Driver) -> dict[str, object]:
    return {
        "gpu": driver.device_name(),
        "gpu_memory": driver.device_memory(),
        "is_simulated": is_simulated(),
        "driver": driver_version(),
        "driver_library": Path(library_path()).name,
        "cuda": driver.cuda_version(),
        "cpu": cpu_model(),
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
    """What the environment says to this package, and what its copies may use."""
    try:
        from pyarrow_cuda_compat import transfer_limits
    except ImportError:  # the others are measured all the same
        copies = {}
    else:
        copies = transfer_limits()
    names = ("PYARROW_CUDA_", "CUDA_VISIBLE_DEVICES", "NUMBA_CUDA_MEMORY_MANAGER", "OMP_NUM")
    chosen = {name: value for name, value in os.environ.items() if name.startswith(names)}
    # A library's path is the machine's own affair.
    chosen.pop("PYARROW_CUDA_DRIVER", None)
    return {"environment": chosen, "transfer_limits": copies}


def cores() -> int:
    """Those that this process may use."""
    return len(os.sched_getaffinity(0))


def available_memory() -> int:
    """What the host can still give, in bytes."""
    found = first_match("/proc/meminfo", r"MemAvailable:\s+(\d+) kB")
    return int(found) * 1024 if found else 0


def cpu_model() -> str:
    return first_match("/proc/cpuinfo", r"model name\s*:\s*(.+)") or platform.machine()


def driver_version() -> str:
    found = first_match("/proc/driver/nvidia/version", r"(\d+\.\d+[.\d]*)\s")
    if found or is_simulated():
        return found
    query = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    try:
        answer = subprocess.run(query, capture_output=True, text=True, timeout=20, check=True)
    except (OSError, subprocess.SubprocessError):
        return ""
    return answer.stdout.splitlines()[0].strip() if answer.stdout else ""


def first_match(path: str, pattern: str) -> str:
    try:
        found = re.search(pattern, Path(path).read_text())
    except OSError:
        return ""
    return found[1].strip() if found else ""
