"""A row of the table, or a point of a plot, and its goal."""

from __future__ import annotations

from dataclasses import asdict, dataclass

# The table shows no finer differences, and clocks resolve none: four busy threads can count as
# 4.0002 cores.
TOLERANCE = 1 / 2000


@dataclass(frozen=True)
class Goal:
    """At most so many seconds (or units that the row counts), or at least so many bytes a
    second."""

    at_most: float | None = None
    at_least: float | None = None
    p99: float | None = None
    """In addition, at most so many seconds for 99 of 100 calls."""

    def is_met(self, value: float, size: int, p99: float = 0.0) -> bool:
        if self.p99 is not None and p99 > self.p99 * (1 + TOLERANCE):
            return False
        if self.at_most is not None:
            return value <= self.at_most * (1 + TOLERANCE)
        return self.at_least is not None and size / value >= self.at_least * (1 - TOLERANCE)

    def as_dict(self) -> dict[str, float | None]:
        found = asdict(self)
        if self.p99 is None:
            del found["p99"]
        return found


@dataclass(frozen=True)
class Row:
    name: str
    title: str
    part: str
    """`table` or `sweep`."""
    work: str
    """The function of `works` that prepares it."""
    size: int = 0
    """Bytes that go through it; 0 where only the call is measured."""
    options: tuple[tuple[str, int | str | bool], ...] = ()
    goal: Goal | None = None
    limit: str = ""
    """The best that the machine can do: a name in `limits`."""
    limit_size: int | None = None
    """The bytes that the limit is measured with, where they differ from the row's."""
    as_rate: bool = False
    """Whether it is shown in bytes a second."""
    counts: str = ""
    """The unit that is counted in place of time: a name in `units.COUNTED`."""
