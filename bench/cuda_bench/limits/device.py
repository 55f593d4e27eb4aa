"""Device memory: copies within it, and how fast it is read."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import partial

from ..measure import Case, measure
from .base import Bench, Limit
from .kernels import Kernels

THREADS = 512
BLOCKS_EACH = 16
MULTIPROCESSORS = 16  # CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT


def device_copy(bench: Bench, size: int) -> Limit:
    copy = bench.driver.function("cuMemcpyDtoD_v2")
    wait = bench.driver.function("cuStreamSynchronize")
    with bench.device(size) as first, bench.device(size) as second:
        bench.driver.call("cuMemcpyDtoD_v2", second, first, size)
        case = Case.waited(partial(copy, second, first, size), partial(wait, None))
        return Limit(measure(case, bench.budget), "cuMemcpyDtoD")


def device_read(bench: Bench, size: int) -> Limit:
    """A kernel that reads all of it and keeps nothing."""
    wait = bench.driver.function("cuStreamSynchronize")
    with bench.device(size) as memory, bench.device(16) as out, Kernels(bench.driver) as kernels:
        # Memory that no driver has written may have no pages behind it.
        bench.driver.call(
            "cuMemsetD8_v2", ctypes.c_uint64(memory), ctypes.c_ubyte(7), ctypes.c_size_t(size)
        )
        blocks = BLOCKS_EACH * bench.driver.attribute(MULTIPROCESSORS)
        run = kernels.launcher("read_all", blocks, THREADS, (memory, size // 16, out))
        case = Case.waited(run, partial(wait, None))
        times = measure(case, bench.budget)
    return Limit(times, f"a kernel of {blocks} blocks of {THREADS} threads that reads everything")


def launch(bench: Bench, size: int) -> Limit:
    """A kernel that does nothing, and the wait for it."""
    wait = bench.driver.function("cuStreamSynchronize", quick=True)
    with Kernels(bench.driver) as kernels:
        run = kernels.launcher("nothing", 1, 32, ())
        case = Case.waited(run, partial(wait, None))
        return Limit(measure(case, bench.budget), "cuLaunchKernel and cuStreamSynchronize")


LIMITS: dict[str, Callable[[Bench, int], Limit]] = {
    "device-copy": device_copy,
    "device-read": device_read,
    "launch": launch,
}
