"""What copies that are made in a loop take of the processors."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from ..measure import Budget, Case, Trial, sampler
from ..peers import Peer
from ..space import Space
from ..stats import Summary
from .copies import down, up

WAYS = {"up": up, "down": down}


@dataclass(frozen=True)
class Spent:
    """On some calls."""

    calls: int
    seconds: float
    processor_seconds: float
    """Of all threads of this process."""

    @property
    def cores(self) -> float:
        """How many were busy."""
        return self.processor_seconds / self.seconds

    def a_gigabyte(self, size: int) -> float:
        """Processor seconds for each 10^9 bytes, of calls that copy `size` of them."""
        return self.processor_seconds / (self.calls * size) * 1e9


def spent(case: Case, seconds: float) -> Spent:
    """On as many calls as there are in so many seconds, and on one at least."""
    take = sampler(case, time.perf_counter)
    calls = 0
    processor, start = time.process_time(), time.perf_counter()
    while True:
        take()
        calls += 1
        took = time.perf_counter() - start
        if took >= seconds:
            return Spent(calls, took, time.process_time() - processor)


def processor_time(peer: Peer, space: Space, size: int, *, way: str) -> Trial:
    """Of copies of pageable memory, for each gigabyte."""
    return trial(WAYS[way](peer, space, size, pinned=False), lambda found: found.a_gigabyte(size))


def cores(peer: Peer, space: Space, size: int, *, way: str) -> Trial:
    """How many are busy during copies of pageable memory."""
    return trial(WAYS[way](peer, space, size, pinned=False), lambda found: found.cores)


def trial(case: Case, value: Callable[[Spent], float]) -> Trial:
    def run(budget: Budget) -> Summary:
        spent(case, 0)  # warms up
        several = [spent(case, budget.seconds / 2) for _ in range(budget.least)]
        return Summary.of(map(value, several))

    return Trial(run, case.check)
