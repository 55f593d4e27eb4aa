"""Copies: of pinned memory, of ordinary memory by the driver, and between host memory."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from ..measure import Case, measure
from ..space import expect_equal
from .base import Bench, Limit
from .staged import staged


def one_copy(bench: Bench, size: int, *, pinned: bool, is_up: bool) -> Limit:
    """A copy by the driver, which has waited for it when it returns: from pinned memory that is
    what cuMemcpy does, too."""
    driver = bench.driver
    up, down = (driver.function(name) for name in ("cuMemcpyHtoD_v2", "cuMemcpyDtoH_v2"))
    wait = driver.function("cuStreamSynchronize")
    source = bench.space.source(size, pinned=pinned and is_up)
    target = bench.space.target(size, pinned=pinned and not is_up)
    with bench.device(size) as device:
        upload = partial(up, device, source.address, size)
        download = partial(down, target.address, device, size)
        first, second = (upload, download) if is_up else (download, upload)
        second()
        times = measure(Case.waited(first, partial(wait, None)), bench.budget)
        second()
        expect_equal(target.array, source)
    memory = "pinned" if pinned else "ordinary"
    return Limit(times, f"cuMemcpy{'HtoD' if is_up else 'DtoH'} of {memory} memory")


def both(bench: Bench, size: int) -> Limit:
    """Half of the bytes each way, on two streams."""
    driver, part = bench.driver, size // 2
    up, down = (driver.function(f"cuMemcpy{way}Async_v2") for way in ("HtoD", "DtoH"))
    wait = driver.function("cuStreamSynchronize")
    source = bench.space.source(part, pinned=True)
    target = bench.space.target(part, pinned=True, start=part)
    streams = [driver.make_stream() for _ in range(2)]
    with bench.device(part) as there, bench.device(part) as back:
        from_there, to_here = source.address, target.address

        def run() -> None:
            up(there, from_there, part, streams[0])
            down(to_here, back, part, streams[1])
            wait(streams[0])
            wait(streams[1])

        driver.call("cuMemcpyHtoD_v2", back, source.address, part)
        times = measure(Case.plain(run), bench.budget)
        expect_equal(target.array, source)
    for stream in streams:
        driver.call("cuStreamDestroy_v2", stream)
    return Limit(times, "cuMemcpyHtoDAsync and cuMemcpyDtoHAsync on two streams")


def memcpy(bench: Bench, size: int, threads: int) -> Limit:
    source, target = bench.space.source(size), bench.space.target(size)
    piece = -(-size // threads)
    parts: list[tuple[int, int, int]] = []
    for start in range(0, size, piece):
        parts.append((target.address + start, source.address + start, min(piece, size - start)))
    with ThreadPoolExecutor(threads) as pool:

        def run() -> None:
            for _ in pool.map(lambda part: ctypes.memmove(*part), parts):
                pass

        times = measure(Case.plain(run), bench.budget)
    expect_equal(target.array, source)
    return Limit(times, f"memcpy by {threads} threads")


def memcpy_all(bench: Bench, size: int) -> Limit:
    """As many threads as do it fastest."""
    counts = sorted({min(bench.cores, count) for count in (4, 8, bench.cores)})
    limits = [memcpy(bench, size, count) for count in counts]
    return min(limits, key=lambda limit: limit.times.median)


def of_driver(*, pinned: bool, is_up: bool) -> Callable[[Bench, int], Limit]:
    return lambda bench, size: one_copy(bench, size, pinned=pinned, is_up=is_up)


LIMITS: dict[str, Callable[[Bench, int], Limit]] = {
    "pinned-up": of_driver(pinned=True, is_up=True),
    "pinned-down": of_driver(pinned=True, is_up=False),
    "pinned-both": both,
    "driver-up": of_driver(pinned=False, is_up=True),
    "driver-down": of_driver(pinned=False, is_up=False),
    "staged-up": lambda bench, size: staged(bench, size, is_up=True),
    "staged-down": lambda bench, size: staged(bench, size, is_up=False),
    "memcpy-1": lambda bench, size: memcpy(bench, size, 1),
    "memcpy-all": memcpy_all,
}
