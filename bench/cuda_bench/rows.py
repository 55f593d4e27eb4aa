"""Lists the benchmark's rows: those of `rows.toml` with their goals, and the sweep over sizes."""

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from itertools import product
from math import inf
from pathlib import Path
from typing import Any

from .table import OURS, size_of, size_text

PARTS = ("limits", "table", "devices", "compute", "sweep")
# Goals for the slowest calls, which a measurement has by the same names.
LATEST = ("p99", "tail")
# The table shows no finer differences, and clocks resolve none: four busy threads can count as
# 4.0002 cores.
TOLERANCE = 1 / 2000

# `at_most` is a number of seconds (or of the row's own units), `at_least` of bytes a second.  99 of
# 100 calls also take at most `p99` seconds, and at most `tail` times the median of one call.
Goal = dict[str, float | None]


@dataclass(frozen=True)
class Row:
    """A row of the table, or a point of a plot.

    `part` is `table`, `devices` (for two of them), `compute` or `sweep`, `work` the method of
    `Works` that prepares it, and `size` the bytes that go through it, or the rows that are
    computed; 0 where only the call is measured.  `limit` names the best that the machine can do,
    which is measured with `limit_size` bytes where that differs from `size`.
    A row that is fresh is measured in a process of its own.  For one that is alone, no other
    library is measured.
    """

    name: str
    title: str
    part: str
    work: str
    size: int = 0
    options: Mapping[str, Any] = field(default_factory=dict)
    goal: Goal | None = None
    limit: str = ""
    limit_size: int | None = None
    as_rate: bool = False
    counts: str = ""
    is_fresh: bool = False
    is_alone: bool = False

    def measured_with(self, size: int) -> dict[str, Any]:
        """The row of a result."""
        found = {key: getattr(self, key) for key in ("name", "title", "part", "as_rate", "goal")}
        found |= {"size": size, "wanted_size": self.size, "limit": None}
        return found | ({"counts": self.counts} if self.counts else {})


def listed(name: str, given: dict[str, Any]) -> Row:
    """A row of `rows.toml`."""
    goal = {key: given.pop(key) for key in ("at_most", "at_least", *LATEST) if key in given}
    given["goal"] = {"at_most": None, "at_least": None} | goal if goal else None
    given["size"] = size_of(given.get("size", "0"))
    flags = ("rate", "as_rate"), ("fresh", "is_fresh"), ("alone", "is_alone")
    given |= {known: given.pop(flag, False) for flag, known in flags}
    return Row(name, part=given.pop("part", "table"), **given)


def sweep() -> Iterator[Row]:
    for power, way, memory in product(range(6, 33, 2), ("up", "down"), ("pageable", "pinned")):
        size, text = 1 << power, size_text(1 << power)
        name, title = f"sweep-{way}-{memory}-{text.replace(' ', '')}", f"{text} {way}, {memory}"
        options, is_large = {"pinned": memory == "pinned"}, size > 1 << 20
        # The driver's own call, beside which small copies are drawn.
        limit = "" if is_large else f"{'pinned' if options['pinned'] else 'driver'}-{way}"
        yield Row(name, title, "sweep", way, size, options, limit=limit, as_rate=is_large)


TABLE = tomllib.loads(Path(__file__).with_suffix(".toml").read_text())
ROWS = (*(listed(name, given) for name, given in TABLE.items()), *sweep())


def chosen(words: Sequence[str]) -> list[Row]:
    """The rows whose part, name or pattern (`up-*`) is among the words.

    Raises ValueError for a word that selects nothing.
    """
    found = set()
    for word in words:
        names = {row.name for row in ROWS if row.part == word or fnmatchcase(row.name, word)}
        if not names and word not in PARTS:
            raise ValueError(f"no row, pattern or part: {word!r}; --list shows all")
        found |= names
    return [row for row in ROWS if row.name in found]


def is_met(goal: Goal, cell: Mapping[str, float], size: int) -> bool:
    """Whether what was measured is within all that the goal has."""
    value, at_least = cell["median"], goal.get("at_least")
    found = {"at_most": value} | {key: cell.get(key, inf) for key in LATEST}
    for key, each in found.items():
        limit = goal.get(key)
        if limit is not None and each > limit * (1 + TOLERANCE):
            return False
    return at_least is None or size / value >= at_least * (1 - TOLERANCE)


def judged(row: dict[str, Any], *, is_simulated: bool = False) -> dict[str, Any]:
    """The row with `best_peer`, `ratio` (how many times as fast as that one we are) and `met`.

    `met` is None without a goal, for another size than the goal's, and on a simulated device; it is
    False where our own measurement failed.
    """
    cell = row["cells"].get(OURS, {})
    medians = {name: each["median"] for name, each in row["cells"].items() if "median" in each}
    ours = medians.pop(OURS, None)
    best = min(medians, key=medians.__getitem__, default=None)
    ratio = medians[best] / ours if best is not None and ours else None
    met: bool | None = None
    is_offered = cell and "not_offered" not in cell
    if row["goal"] and row["size"] == row["wanted_size"] and not is_simulated and is_offered:
        met = "median" in cell and is_met(row["goal"], cell, row["size"])
    return row | {"best_peer": best, "ratio": ratio, "met": met}
