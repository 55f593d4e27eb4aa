"""Copies by the driver, and between host memory."""

from __future__ import annotations

import ctypes
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from ..measure import Case
from ..space import expect_equal
from .base import LIMITS, Bench, Limit, best, named


def one_copy(bench: Bench, size: int, *, pinned: bool, is_up: bool) -> Limit:
    """A copy by the driver, which has waited for it when it returns: from pinned memory that is
    what cuMemcpy does, too."""
    up, down = (bench.driver.function(name) for name in ("cuMemcpyHtoD_v2", "cuMemcpyDtoH_v2"))
    source = bench.space.source(size, pinned=pinned and is_up)
    target = bench.space.target(size, pinned=pinned and not is_up)
    how = f"cuMemcpy{'HtoD' if is_up else 'DtoH'} of {'pinned' if pinned else 'ordinary'} memory"
    with bench.driver.memory(size) as device:
        upload = partial(up, device, source.address, size)
        download = partial(down, target.address, device, size)
        first, second = (upload, download) if is_up else (download, upload)
        second()
        limit = bench.limit(Case.waited(first, bench.wait()), how)
        second()
        expect_equal(target.array, source)
    return limit


for _memory in ("pinned", "driver"):
    for _way in ("up", "down"):
        LIMITS[f"{_memory}-{_way}"] = partial(
            one_copy, pinned=_memory == "pinned", is_up=_way == "up"
        )


@named("pinned-both")
def both(bench: Bench, size: int) -> Limit:
    """Half of the bytes each way, on two streams."""
    driver, part = bench.driver, size // 2
    up, down = (driver.function(f"cuMemcpy{way}Async_v2") for way in ("HtoD", "DtoH"))
    wait = driver.function("cuStreamSynchronize")
    source = bench.space.source(part, pinned=True)
    target = bench.space.target(part, pinned=True, start=part)
    from_there, to_here = source.address, target.address
    first, second = driver.make_stream(), driver.make_stream()
    with driver.memory(part) as there, driver.memory(part) as back:

        def run() -> None:
            up(there, from_there, part, first)
            down(to_here, back, part, second)
            wait(first)
            wait(second)

        driver.call("cuMemcpyHtoD_v2", back, source.address, part)
        how = "cuMemcpyHtoDAsync and cuMemcpyDtoHAsync on two streams"
        limit = bench.limit(Case.plain(run), how)
        expect_equal(target.array, source)
    for stream in (first, second):
        driver.call("cuStreamDestroy_v2", stream)
    return limit


def memcpy(bench: Bench, size: int, threads: int) -> Limit:
    source, target = bench.space.source(size), bench.space.target(size)
    piece = -(-size // threads)
    parts = [
        (target.address + start, source.address + start, min(piece, size - start))
        for start in range(0, size, piece)
    ]
    with ThreadPoolExecutor(threads) as pool:

        def run() -> None:
            for _ in pool.map(lambda part: ctypes.memmove(*part), parts):
                pass

        limit = bench.limit(Case.plain(run), f"memcpy by {threads} threads")
    expect_equal(target.array, source)
    return limit


LIMITS["memcpy-1"] = partial(memcpy, threads=1)


@named("memcpy-all")
def memcpy_all(bench: Bench, size: int) -> Limit:
    """As many threads as do it fastest."""
    counts = sorted({min(bench.cores, count) for count in (4, 8, bench.cores)})
    return best([memcpy(bench, size, count) for count in counts])


@named("device-copy")
def device_copy(bench: Bench, size: int) -> Limit:
    copy = bench.driver.function("cuMemcpyDtoD_v2")
    with bench.driver.memory(size) as first, bench.driver.memory(size) as second:
        bench.driver.call("cuMemcpyDtoD_v2", second, first, size)
        case = Case.waited(partial(copy, second, first, size), bench.wait())
        return bench.limit(case, "cuMemcpyDtoD")
