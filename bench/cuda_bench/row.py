"""What a row is."""

from __future__ import annotations

from dataclasses import dataclass

from .units import size_text

GB = 1e9
US = 1e-6
MS = 1e-3
# The table shows no more, and clocks are no better: four busy threads can count as 4.0002 cores.
TOLERANCE = 1 / 2000


@dataclass(frozen=True)
class Goal:
    """At most so many seconds (or what the row counts), or at least so many bytes a second."""

    at_most: float | None = None
    at_least: float | None = None
    p99: float | None = None
    """Beside it, at most so many seconds for all calls but a hundredth."""

    def is_met(self, value: float, size: int, p99: float = 0.0) -> bool:
        if self.p99 is not None and p99 > self.p99 * (1 + TOLERANCE):
            return False
        if self.at_most is not None:
            return value <= self.at_most * (1 + TOLERANCE)
        return self.at_least is not None and size / value >= self.at_least * (1 - TOLERANCE)

    def as_dict(self) -> dict[str, float | None]:
        both = {"at_most": self.at_most, "at_least": self.at_least}
        return both if self.p99 is None else both | {"p99": self.p99}


@dataclass(frozen=True)
class Row:
    """One line of the table, or one point of a plot."""

    name: str
    title: str
    part: str
    """`table` or `sweep`."""
    work: str
    """What is prepared for it: a function of `works`."""
    size: int = 0
    """Bytes that go through it; 0 where it is about the call alone."""
    options: tuple[tuple[str, int | str | bool], ...] = ()
    goal: Goal | None = None
    limit: str = ""
    """What the machine can do at best: a name in `limits`."""
    limit_size: int | None = None
    """The bytes that the limit is measured with, where they are not the row's."""
    as_rate: bool = False
    """Whether it reads better as bytes a second."""
    counts: str = ""
    """What is counted in place of time: a name in `units.COUNTED`."""


def short(size: int) -> str:
    return size_text(size).replace(" ", "")
