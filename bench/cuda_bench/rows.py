"""The rows of the benchmark: those of the table, which `rows.toml` lists with their goals, and the
sweep over sizes.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from .row import Goal, Row
from .units import size_of, size_text

PARTS = ("limits", "table", "sweep")


def listed(name: str, given: dict[str, Any]) -> Row:
    """A row of `rows.toml`."""
    goal = {key: given.pop(key) for key in ("at_most", "at_least", "p99") if key in given}
    return Row(
        name,
        part="table",
        size=size_of(given.pop("size", "0")),
        options=tuple(given.pop("options", {}).items()),
        goal=Goal(**goal) if goal else None,
        as_rate=given.pop("rate", False),
        **given,
    )


def sweep() -> Iterator[Row]:
    for power in range(6, 33, 2):
        for way in ("up", "down"):
            for memory in ("pageable", "pinned"):
                size, shown = 1 << power, size_text(1 << power)
                name, title = f"sweep-{way}-{memory}-{shown.replace(' ', '')}", f"{shown} {way}"
                options = (("pinned", memory == "pinned"),)
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
