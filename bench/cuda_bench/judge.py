"""What a row's values say: beside the best of the others, and beside its goal."""

from __future__ import annotations

from math import inf
from typing import Any

from .row import Goal

OURS = "ours"


def judged(row: dict[str, Any], *, is_simulated: bool = False) -> dict[str, Any]:
    """The row with `best_peer`, `ratio` (how many times as fast as that one we are) and `met`.

    `met` is None where there is no goal, or where another size was measured, or on a simulated
    device; it is False where ours gave no value.
    """
    cells = row["cells"]
    mine = cells.get(OURS, {})
    ours = mine.get("median")
    others = {
        name: cell["median"] for name, cell in cells.items() if name != OURS and "median" in cell
    }
    best = min(others, key=lambda name: others[name]) if others else None
    ratio = others[best] / ours if best is not None and ours else None
    goal = Goal(**row["goal"]) if row["goal"] else None
    met: bool | None = None
    if goal and row["size"] == row["wanted_size"] and not is_simulated and OURS in cells:
        met = ours is not None and goal.is_met(ours, row["size"], mine.get("p99", inf))
    return row | {"best_peer": best, "ratio": ratio, "met": met}
