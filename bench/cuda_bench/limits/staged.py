"""Copies of ordinary memory by several threads, through pinned memory."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from ctypes import memmove
from functools import partial

from ..measure import Case, WrongResult
from ..space import expect_equal
from ..units import size_text
from .base import LIMITS, Bench, Limit, best

SLOTS = 2


class Lane:
    """One thread's stream, with pinned memory for the piece in hand and the one on its way."""

    def __init__(self, bench: Bench, piece: int) -> None:
        driver = self._driver = bench.driver
        self._memory = driver.allocate_pinned(SLOTS * piece)
        self._slots = [self._memory + slot * piece for slot in range(SLOTS)]
        self._events = [driver.make_event() for _ in range(SLOTS)]
        self._stream = driver.make_stream()
        self._up = driver.function("cuMemcpyHtoDAsync_v2")
        self._down = driver.function("cuMemcpyDtoHAsync_v2")
        self._record = driver.function("cuEventRecord")
        self._wait = driver.function("cuEventSynchronize")
        self._finish = driver.function("cuStreamSynchronize")

    def upload(self, host: int, device: int, pieces: list[tuple[int, int]]) -> int:
        """The codes of the driver, as one: 0 where all went well."""
        code = 0
        for number, (start, size) in enumerate(pieces):
            slot, event = self._slots[number % SLOTS], self._events[number % SLOTS]
            code |= self._wait(event)
            memmove(slot, host + start, size)
            code |= self._up(device + start, slot, size, self._stream)
            code |= self._record(event, self._stream)
        return code | self._finish(self._stream)

    def download(self, host: int, device: int, pieces: list[tuple[int, int]]) -> int:
        code = 0
        for number in range(len(pieces) + 1):
            if number < len(pieces):
                start, size = pieces[number]
                slot = self._slots[number % SLOTS]
                code |= self._down(slot, device + start, size, self._stream)
                code |= self._record(self._events[number % SLOTS], self._stream)
            if number > 0:
                start, size = pieces[number - 1]
                code |= self._wait(self._events[(number - 1) % SLOTS])
                memmove(host + start, self._slots[(number - 1) % SLOTS], size)
        return code

    def close(self) -> None:
        self._driver.call("cuStreamDestroy_v2", self._stream)
        for event in self._events:
            self._driver.call("cuEventDestroy_v2", event)
        self._driver.call("cuMemFreeHost", self._memory)


def staged(bench: Bench, size: int, *, is_up: bool) -> Limit:
    """The best of several numbers of threads and sizes of pieces."""
    counts = sorted({max(1, min(bench.cores, count)) for count in (4, 8, 16)})
    pieces = [1 << 20, 4 << 20]
    if bench.is_quick:
        counts, pieces = [min(8, bench.cores)], [2 << 20]
    return best(
        [one_way(bench, size, threads, piece, is_up) for threads in counts for piece in pieces]
    )


for _way in ("up", "down"):
    LIMITS[f"staged-{_way}"] = partial(staged, is_up=_way == "up")


def one_way(bench: Bench, size: int, threads: int, piece: int, is_up: bool) -> Limit:
    source, target = bench.space.source(size), bench.space.target(size)
    address = source.address if is_up else target.address
    spans = [(start, min(piece, size - start)) for start in range(0, size, piece)]
    shares = [spans[number::threads] for number in range(threads)]
    lanes = [Lane(bench, piece) for _ in range(threads)]
    copies = [lane.upload if is_up else lane.download for lane in lanes]
    how = f"{threads} threads, {SLOTS} pinned slots of {size_text(piece)} each"
    with bench.driver.memory(size) as device:
        if not is_up:
            bench.driver.call("cuMemcpyHtoD_v2", device, source.address, size)
        with ThreadPoolExecutor(threads, initializer=bench.driver.enter) as pool:

            def run() -> None:
                tasks = [
                    pool.submit(copy, address, device, share)
                    for copy, share in zip(copies, shares, strict=True)
                ]
                if any([task.result() for task in tasks]):
                    raise WrongResult("the driver refused a copy")

            limit = bench.limit(Case.plain(run), how)
        if is_up:
            bench.driver.call("cuMemcpyDtoH_v2", target.address, device, size)
    for lane in lanes:
        lane.close()
    expect_equal(target.array, source)
    return limit
