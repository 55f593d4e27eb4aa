"""Compares a row's values with the best of the other libraries, and with its goal."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from math import inf
from typing import Any

OURS = "ours"
# The table shows no finer differences, and clocks resolve none: four busy threads can count as
# 4.0002 cores.
TOLERANCE = 1 / 2000


@dataclass(frozen=True)
class Goal:
    """At most so many seconds (or units that the row counts), or at least so many bytes a second.

    With `p99`, 99 of 100 calls also take at most so many seconds.
    """

    at_most: float | None = None
    at_least: float | None = None
    p99: float | None = None

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


def judged(row: dict[str, Any], *, is_simulated: bool = False) -> dict[str, Any]:
    """The row with `best_peer`, `ratio` (how many times as fast as that one we are) and `met`.

    `met` is None without a goal, for another size than the goal's, and on a simulated device; it is
    False where our own measurement failed.
    """
    cells = row["cells"]
    medians = {name: cell["median"] for name, cell in cells.items() if "median" in cell}
    ours = medians.pop(OURS, None)
    best = min(medians, key=medians.__getitem__, default=None)
    ratio = medians[best] / ours if best is not None and ours else None
    met: bool | None = None
    if row["goal"] and row["size"] == row["wanted_size"] and not is_simulated and OURS in cells:
        p99 = cells[OURS].get("p99", inf)
        met = ours is not None and Goal(**row["goal"]).is_met(ours, row["size"], p99)
    return row | {"best_peer": best, "ratio": ratio, "met": met}
