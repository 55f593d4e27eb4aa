"""Calls while streams are busy, and the processor time of copies."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from ..measure import Budget, Case, Summary, Trial, nothing, sampler
from .base import Setup, work
from .copies import down, up

# For how long streams are kept busy, in seconds: longer than any row measures.
BUSY = 0.5
WAYS = {"up": up, "down": down}


@work
def queue_beside_busy(setup: Setup, size: int, *, streams: int) -> Case:
    peer = setup.peer
    device, source = setup.device(size), setup.space.source(size, pinned=True)
    peer.waiter()()
    all_streams = [peer.stream() for _ in range(streams + 1)]
    *others, run = [peer.upload(device, source, stream) for stream in all_streams]
    handles = [peer.handle(stream) for stream in all_streams]
    case = beside_busy(setup, run, lambda: setup.expect(device, source), handles)
    for other in others:
        other()
    return case


@work
def allocate_beside_busy(setup: Setup, size: int) -> Case:
    run = setup.peer.allocator(size)
    run()
    return beside_busy(setup, run, nothing)


@work
def up_beside_busy(setup: Setup, size: int) -> Case:
    peer, source = setup.peer, setup.space.source(size)
    allocator, wait = peer.allocator(size), peer.waiter()

    def run() -> object:
        device = allocator()
        peer.upload(device, source)()
        wait()
        return device

    return beside_busy(setup, run, lambda: setup.expect(run(), source))


def beside_busy(
    setup: Setup,
    run: Callable[[], object],
    check: Callable[[], None],
    streams: list[int] | None = None,
) -> Case:
    """A call while streams are busy; by default one that nobody else uses."""
    driver = setup.space.driver
    driver.call("cuCtxSynchronize")
    driver.hold(streams or [driver.make_stream()], BUSY)

    def checked() -> None:
        driver.call("cuCtxSynchronize")
        check()

    return Case("run()", {"run": run}, checked, most=200)


@dataclass(frozen=True)
class Spent:
    """The time of some calls; `processor_seconds` are of all threads of this process."""

    calls: int
    seconds: float
    processor_seconds: float

    @property
    def cores(self) -> float:
        """The number of busy cores."""
        return self.processor_seconds / self.seconds

    def a_gigabyte(self, size: int) -> float:
        """Processor seconds for each 10^9 bytes, of calls that copy `size` of them."""
        return self.processor_seconds / (self.calls * size) * 1e9


def spent(case: Case, seconds: float) -> Spent:
    """Makes as many calls as fit into the time, and one at least."""
    take = sampler(case, time.perf_counter)
    calls = 0
    processor, start = time.process_time(), time.perf_counter()
    while True:
        take()
        calls += 1
        took = time.perf_counter() - start
        if took >= seconds:
            return Spent(calls, took, time.process_time() - processor)


def counted(case: Case, value: Callable[[Spent], float]) -> Trial:
    def run(budget: Budget) -> Summary:
        spent(case, 0)  # warms up
        return Summary.of(value(spent(case, budget.seconds / 2)) for _ in range(budget.least))

    return Trial(run, case.check)


@work
def processor_time(setup: Setup, size: int, *, way: str) -> Trial:
    """Processor time of copies of pageable memory, for each gigabyte."""
    case = WAYS[way](setup, size, pinned=False)
    return counted(case, lambda found: found.a_gigabyte(size))


@work
def cores(setup: Setup, size: int, *, way: str) -> Trial:
    """The number of cores that copies of pageable memory keep busy."""
    return counted(WAYS[way](setup, size, pinned=False), lambda found: found.cores)
