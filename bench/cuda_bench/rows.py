"""The rows of the benchmark: those of the table, which `rows.toml` lists with their goals, and the
sweep over sizes.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from .goals import Goal
from .units import size_of, size_text

PARTS = ("limits", "table", "sweep")


@dataclass(frozen=True)
class Row:
    """A row of the table, or a point of a plot.

    `part` is `table` or `sweep`, `work` the function of `works` that prepares it, and `size` the
    bytes that go through it, 0 where only the call is measured.  `limit` names the best that the
    machine can do, which is measured with `limit_size` bytes where that differs from `size`.
    """

    name: str
    title: str
    part: str
    work: str
    size: int = 0
    options: Mapping[str, int | str | bool] = field(default_factory=dict)
    goal: Goal | None = None
    limit: str = ""
    limit_size: int | None = None
    as_rate: bool = False
    counts: str = ""


def listed(name: str, given: dict[str, Any]) -> Row:
    """A row of `rows.toml`."""
    goal = {key: given.pop(key) for key in ("at_most", "at_least", "p99") if key in given}
    given["size"] = size_of(given.get("size", "0"))
    given["as_rate"] = given.pop("rate", False)
    return Row(name, part="table", goal=Goal(**goal) if goal else None, **given)


def sweep() -> Iterator[Row]:
    for power in range(6, 33, 2):
        for way in ("up", "down"):
            for memory in ("pageable", "pinned"):
                size, shown = 1 << power, size_text(1 << power)
                name, title = f"sweep-{way}-{memory}-{shown.replace(' ', '')}", f"{shown} {way}"
                options = {"pinned": memory == "pinned"}
                is_large = size > 1 << 20
                yield Row(name, f"{title}, {memory}", "sweep", way, size, options, as_rate=is_large)


TABLE = tomllib.loads(Path(__file__).with_suffix(".toml").read_text())
ROWS = (*(listed(name, given) for name, given in TABLE.items()), *sweep())


def chosen(words: Sequence[str], rows: Iterable[Row] = ROWS) -> list[Row]:
    """The rows whose part, name or pattern (`up-*`) is among the words.

    Raises ValueError for a word that selects nothing.
    """
    rows = list(rows)
    found = []
    for word in words:
        matching = [row for row in rows if row.part == word or fnmatchcase(row.name, word)]
        if not matching and word not in PARTS:
            raise ValueError(f"no row, pattern or part: {word!r}; --list shows all")
        found += matching
    return [row for row in rows if row in found]
