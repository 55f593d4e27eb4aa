"""A result of TPC-H as people read it: for terminals, and in Markdown."""

from collections.abc import Iterator
from math import exp, log
from typing import Any

from ..table import NONE, OURS, Result, aligned, digits

Part = dict[str, Any]
#: By the names of the command line.
ENGINES = ("ours", "host", "duckdb", "polars")
#: What the parts of a scale are about, in the words of the tables.
DOUBLES, DECIMALS, FILES = "doubles in memory", "decimals in memory", "decimals from Parquet files"
#: A row of the part about files, beside the queries.
ITEMS = "14 columns of lineitem from Parquet"
QUERIES = [f"q{number}" for number in range(1, 23)]


def milliseconds(part: Part, row: str, engine: str) -> float | None:
    found = part["rows"].get(row, {}).get(engine, {}).get("ms")
    return None if found is None else float(found)


def total(part: Part, engine: str) -> float | None:
    """The time of all queries; None unless the engine has answered all of them."""
    found = [milliseconds(part, query, engine) for query in QUERIES]
    return None if None in found else sum(it for it in found if it is not None)


def times_as_fast(part: Part, engine: str, rows: list[str]) -> float | None:
    """The geometric mean of the times of an engine over ours; None unless both have all rows."""
    found = [(milliseconds(part, it, engine), milliseconds(part, it, OURS)) for it in rows]
    ratios = [log(theirs / ours) for theirs, ours in found if theirs and ours]
    return exp(sum(ratios) / len(rows)) if len(ratios) == len(rows) else None


def title_of(part: Part) -> str:
    return f"scale {part['scale']:g}, {part['values']}"


def number(value: float | None, after: str = "") -> str:
    return NONE if value is None else f"{digits(value)}{after}"


class TpchResult(Result):
    """What a run has found, as in its JSON file."""

    def about(self) -> Iterator[str]:
        settings = self["settings"]
        yield from self.facts()
        yield (
            f"{self['machine']['date']}; medians of {settings['rounds']} calls after a first one, "
            f"of fewer if they take {settings['seconds']:g} s"
        )

    def summary(self) -> Iterator[list[str]]:
        """A line for each part, and for the columns of `lineitem`: times in milliseconds, and how
        many times as fast ours is."""
        engines = self.present()
        others = [name for name in engines if name != OURS]
        faster = [f"ours to {engines[name]}" for name in others]
        yield ["all 22 queries, ms", *engines.values(), *faster]
        for part in self["parts"]:
            times = [number(total(part, name)) for name in engines]
            ratios = [number(times_as_fast(part, name, QUERIES), "x") for name in others]
            yield [title_of(part), *times, *ratios]
        for part in self["parts"]:
            if ITEMS in part["rows"]:
                times = [number(milliseconds(part, ITEMS, name)) for name in engines]
                ratios = [number(times_as_fast(part, name, [ITEMS]), "x") for name in others]
                yield [f"scale {part['scale']:g}, {ITEMS}", *times, *ratios]

    def queries(self, part: Part) -> Iterator[list[str]]:
        """A line for each query, in milliseconds."""
        engines = self.present()
        yield [title_of(part), *engines.values()]
        for row in part["rows"]:
            yield [row, *(number(milliseconds(part, row, name)) for name in engines)]
        yield ["all 22", *(number(total(part, name)) for name in engines)]
        ratios = [
            NONE if name == OURS else number(times_as_fast(part, name, QUERIES), "x")
            for name in engines
        ]
        yield ["ours is faster by (geometric mean)", *ratios]

    def failures(self) -> Iterator[str]:
        for part in self["parts"]:
            for row, cells in part["rows"].items():
                for name, cell in cells.items():
                    if "error" in cell:
                        yield f"failed: {title_of(part)}, {row}, {name}: {cell['error']}"

    def has_failed(self) -> bool:
        """Whether ours has: a failure of another engine is a result, not a bug."""
        cells = [it for part in self["parts"] for it in part["rows"].values()]
        return any("error" in it.get(OURS, {}) for it in cells)

    def terminal(self) -> Iterator[str]:
        """The lines of the whole, aligned."""
        yield from self.about()
        yield "ours to another: the geometric mean of how many times as fast the queries are"
        yield ""
        yield aligned(self.summary())
        for part in self["parts"]:
            yield aligned(self.queries(part))
        yield from self.failures()
        yield from self.missing()
        yield f"{'' if self['is_finished'] else 'NOT FINISHED, '}in {self['took']:.0f} s"
