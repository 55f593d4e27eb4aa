"""Takes times: it warms up, then repeats until the time for it is used up."""

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

Call = Callable[[], Any]

# The clock's own cost does not show in a time of this length.
READABLE = 50e-6


class WrongResult(Exception):
    """A measured call did something else than it should."""


class Budget(NamedTuple):
    """How long one measurement may take."""

    seconds: float
    warm_ups: int
    least: int
    most: int


FULL = Budget(seconds=0.25, warm_ups=2, least=4, most=2000)
QUICK = Budget(seconds=0.08, warm_ups=1, least=3, most=400)


def summary(values: Iterable[float], loops: int = 1) -> dict[str, float]:
    """Statistics of times in seconds, for one call each, or of the values counted in their place.

    A tenth of the values is less than `low`, and a tenth more than `high`; a hundredth of the calls
    takes longer than `p99`.  There are `count` values, each of them the mean of `loops` calls.
    """
    parts = {"best": 0.0, "low": 0.1, "median": 0.5, "high": 0.9, "p99": 0.99}
    taken = list(values)
    found = np.quantile(np.array(taken, float), list(parts.values())).tolist()
    return dict(zip(parts, found, strict=True)) | {"count": len(taken), "loops": loops}


def nothing() -> None:
    """The check of a call that has no result."""


class Trial(NamedTuple):
    """Something to measure that takes its own times, or counts something else."""

    run: Callable[[Budget], dict[str, float]]
    check: Call = nothing
    # Or in other processes, whose processor time is not known here.
    is_here: bool = True


@dataclass
class Case:
    """Something to measure: a statement, the values of its names, and the check of its result."""

    statement: str
    names: Mapping[str, object]
    check: Call = nothing
    # Short calls that wait for no device are timed by the hundred.
    is_repeatable: bool = False
    # At least this many calls are timed together.
    loops: int = 1
    # Work that stays in flight fills the driver's queues, which makes later calls wait; results
    # that are kept need memory.
    most: int = 1 << 30
    # Runs before each call, and is not timed.
    before: Call | None = None
    is_here: ClassVar[bool] = True

    def run(self, budget: Budget, clock: Call = time.perf_counter) -> dict[str, float]:
        loops = self.loops
        take = self.sampler(clock, loops)
        for _ in range(budget.warm_ups):
            take()
        while self.is_repeatable and loops < 1 << 16 and loops * take() < READABLE:
            loops *= 2
            take = self.sampler(clock, loops)
        taken: list[float] = []
        end = clock() + budget.seconds
        least, most = (min(self.most, count) for count in (budget.least, budget.most))
        while len(taken) < least or (clock() < end and len(taken) < most):
            taken.append(take())
        return summary(taken, loops)

    def sampler(self, clock: Call = time.perf_counter, loops: int = 1) -> Any:
        """The time of a call, or of each of several ones.  Unlike in `timeit`, hardly anything is
        between single calls: it would drive their code and data out of the processor's caches.
        """
        names: dict[str, Any] = {"clock": clock, "before": self.before} | dict(self.names)
        repeat = f"for _ in range({loops}): " if loops > 1 else ""
        lines = [
            "def take():",
            "before()" if self.before else "",
            "start = clock()",
            f"{repeat}{self.statement}",
            f"return (clock() - start) / {loops}",
        ]
        exec("\n    ".join(lines), names)  # made from this program's own statements
        return names["take"]


def measured(work: Case | Trial, budget: Budget) -> dict[str, Any]:
    """What the work has found, after its check; with the `cores` that this process kept busy: its
    processor time over the time that passed, warm-ups and pauses included.
    """
    processor, start = time.process_time(), time.perf_counter()
    found: dict[str, Any] = work.run(budget)
    if work.is_here:
        spent, took = time.process_time() - processor, time.perf_counter() - start
        found["cores"] = spent / took
    work.check()
    return found


def counted(take: Callable[[], float], check: Call = nothing) -> Trial:
    """Some values."""
    return Trial(lambda budget: summary(take() for _ in range(budget.least)), check)


def repeated(run: Call, check: Call = nothing) -> Case:
    """A call that is complete when it returns."""
    return Case("run()", {"run": run}, check, is_repeatable=True)
