"""How limits are measured, and the table of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from ..driver import Driver
from ..measure import Budget, Case, Summary, measure
from ..space import Space


@dataclass(frozen=True)
class Limit:
    """The best that was found, and how it was reached."""

    times: Summary
    how: str


@dataclass(frozen=True)
class Bench:
    driver: Driver
    space: Space
    budget: Budget
    cores: int
    is_quick: bool

    def limit(self, case: Case, how: str) -> Limit:
        return Limit(measure(case, self.budget), how)

    def wait(self, *, quick: bool = False) -> Callable[[], int]:
        """A call that waits for the default stream."""
        return partial(self.driver.function("cuStreamSynchronize", quick=quick), None)


Maker = Callable[[Bench, int], Limit]

# By the names that rows refer to.
LIMITS: dict[str, Maker] = {}


def named(name: str) -> Callable[[Maker], Maker]:
    """Enters a limit into the table."""
    return lambda make: LIMITS.setdefault(name, make)


def best(limits: list[Limit]) -> Limit:
    return min(limits, key=lambda limit: limit.times.median)
