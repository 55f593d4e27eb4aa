"""Takes times: it warms up, then repeats until the time for it is used up."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from timeit import Timer
from typing import Any

import numpy as np

# The clock's own cost does not show in a time of this length.
READABLE = 50e-6


class WrongResult(Exception):
    """A measured call did something else than it should."""


@dataclass(frozen=True)
class Budget:
    """How long one measurement may take."""

    seconds: float
    warm_ups: int
    least: int
    most: int


FULL = Budget(seconds=0.25, warm_ups=2, least=4, most=2000)
QUICK = Budget(seconds=0.08, warm_ups=1, least=3, most=400)


@dataclass(frozen=True)
class Summary:
    """Statistics of times in seconds, for one call each, or of the values counted in their place.

    A tenth of the values is less than `low`, and a tenth more than `high`; a hundredth of the calls
    takes longer than `p99`.  There are `count` values, each of them the mean of `loops` calls.
    """

    median: float
    low: float
    high: float
    best: float
    count: int
    loops: int
    p99: float

    @classmethod
    def of(cls, values: Iterable[float], loops: int = 1) -> Summary:
        all_values = np.array(list(values), float)
        best, low, median, high, p99 = np.quantile(all_values, (0, 0.1, 0.5, 0.9, 0.99)).tolist()
        return cls(median, low, high, best, all_values.size, loops, p99)


def nothing() -> None:
    """The check of a call that has no result."""


@dataclass
class Case:
    """Something to measure: a statement, the values of its names, and the check of its result."""

    statement: str
    names: Mapping[str, object]
    check: Callable[[], None] = nothing
    # Short calls that wait for no device are timed by the hundred.
    is_repeatable: bool = False
    # Work that stays in flight fills the driver's queues, which makes later calls wait.
    most: int | None = None
    # Runs before each call, and is not timed.
    before: Callable[[], object] | None = None

    @classmethod
    def waited(
        cls,
        run: Callable[[], object],
        wait: Callable[[], object],
        check: Callable[[], None] = nothing,
    ) -> Case:
        """A call, and the wait until the device has done all of it."""
        return cls("run(); wait()", {"run": run, "wait": wait}, check)

    @classmethod
    def plain(cls, run: Callable[[], object], check: Callable[[], None] = nothing) -> Case:
        """A call that is complete when it returns."""
        return cls("run()", {"run": run}, check, is_repeatable=True)


@dataclass(frozen=True)
class Trial:
    """Something to measure that takes its own times, or counts something else."""

    run: Callable[[Budget], Summary]
    check: Callable[[], None] = nothing


def measure(
    work: Case | Trial, budget: Budget, clock: Callable[[], float] = time.perf_counter
) -> Summary:
    """Measures without collecting garbage meanwhile."""
    with no_garbage_collection():
        return work.run(budget) if isinstance(work, Trial) else times(work, budget, clock)


def times(case: Case, budget: Budget, clock: Callable[[], float]) -> Summary:
    take = sampler(case, clock)
    start = clock()
    for _ in range(budget.warm_ups):
        take()
        if clock() - start > budget.seconds:
            break
    timer = Timer(case.statement, timer=clock, globals=dict(case.names))
    loops = readable_loops(timer) if case.is_repeatable else 1
    if loops > 1:
        take = lambda: timer.timeit(loops) / loops  # noqa: E731
    taken: list[float] = []
    end = clock() + budget.seconds
    most = budget.most if case.most is None else min(case.most, budget.most)
    while len(taken) < budget.least or (clock() < end and len(taken) < most):
        taken.append(take())
    return Summary.of(taken, loops)


@contextmanager
def no_garbage_collection() -> Iterator[None]:
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def sampler(case: Case, clock: Callable[[], float]) -> Callable[[], float]:
    """Times a case once.  Unlike in `timeit`, hardly anything is between the calls: it would drive
    the call's own code and data out of the processor's caches.
    """
    names: dict[str, Any] = {"clock": clock, "before": case.before} | dict(case.names)
    lines = ["start = clock()", case.statement, "return clock() - start"]
    if case.before:
        lines.insert(0, "before()")
    exec("\n    ".join(["def take():", *lines]), names)  # made from this program's own statements
    return names["take"]  # type: ignore[no-any-return]


def readable_loops(timer: Timer) -> int:
    """How many calls take long enough to be timed together."""
    loops = 1
    while loops < 1 << 16 and timer.timeit(loops) < READABLE:
        loops *= 2
    return loops
