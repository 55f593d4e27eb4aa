"""Measures the queries: one engine after the other in each query, beside the same data."""

import gc
import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from .. import machine
from ..runner import FORMAT, told_of
from .engines import ENGINES, TEXTS, Call, Engine
from .programs import check, data
from .result import DECIMALS, DOUBLES, FILES, ITEMS, TpchResult


def tell(text: str) -> None:
    print(text, end="", file=sys.stderr, flush=True)


class WrongAnswer(Exception):
    """An answer differs from the one to expect."""


def expected_answers(folder: Path) -> dict[str, Any]:
    """DuckDB's; without it, all answers are compared with the first one to a query."""
    try:
        return dict(check.duckdb_answers(folder))
    except ImportError:
        return {}


class TpchRun:
    """One run.  `rounds` calls are timed after a first one, or fewer in about `seconds`; the result
    goes to `path` after each part."""

    def __init__(
        self,
        names: Sequence[str],
        rounds: int,
        seconds: float,
        parent: Path | None,
        path: Path | None,
    ) -> None:
        self.start = time.monotonic()
        self.rounds, self.seconds, self.parent, self.path = rounds, seconds, parent, path
        driver = machine.Driver()
        self.engines: dict[str, Engine] = {}
        told = {name: self.opened(name) for name in names}
        driver.enter()
        self.found = TpchResult(
            format=FORMAT,
            benchmark="tpch",
            machine=machine.described(driver),
            settings={"environment": machine.settings(), "rounds": rounds, "seconds": seconds},
            peers=told,
            parts=[],
        )
        #: The answers that all others are compared with.
        self.expected: dict[str, Any] = {}

    def opened(self, name: str) -> dict[str, Any]:
        """An engine's title, and its versions or why it is missing."""
        found: dict[str, Any] = {"title": ENGINES[name].title}
        try:
            self.engines[name] = ENGINES[name]()
            found["versions"] = self.engines[name].versions
        except Exception as error:
            found["missing"] = str(error) if isinstance(error, ImportError) else told_of(error)
        tell(f"{name}: {found.get('versions') or found['missing']}\n")
        return found

    def measure(self, scales: Sequence[float]) -> TpchResult:
        for scale in scales:
            folder = self.folder_of(scale)
            data.make(folder, scale)
            self.expected = expected_answers(folder)
            for values in (DOUBLES, DECIMALS):
                self.part(scale, values, self.loaded(folder, decimals=values == DECIMALS))
                for engine in self.engines.values():
                    engine.unload()
            self.part(scale, FILES, self.of_files(folder))
        self.keep(is_finished=True)
        return self.found

    def folder_of(self, scale: float) -> Path:
        default: Path = data.default_folder(scale)
        return (self.parent / default.name if self.parent else default).resolve()

    def loaded(self, folder: Path, *, decimals: bool) -> Iterator[tuple[str, dict[str, Any]]]:
        """Each query, with what makes its call, by engine."""
        failed = {}
        for name, engine in self.engines.items():
            tell(f"{name} loads; ")
            try:
                engine.load(folder, decimals=decimals)
            except Exception as error:
                failed[name] = told_of(error)
        tell("\n")
        for query in TEXTS:
            yield (
                query,
                {
                    name: failed.get(name) or partial(engine.answer, query)
                    for name, engine in self.engines.items()
                },
            )

    def of_files(self, folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
        every = self.engines.items()
        yield ITEMS, {name: partial(engine.read_items, folder) for name, engine in every}
        for query in TEXTS:
            yield (
                query,
                {name: partial(engine.answer_from_files, folder, query) for name, engine in every},
            )

    def part(self, scale: float, values: str, rows: Iterator[tuple[str, dict[str, Any]]]) -> None:
        found: dict[str, Any] = {"scale": scale, "values": values, "rows": {}}
        self.found["parts"].append(found)
        for number, (row, makers) in enumerate(rows):
            # Not always the same one first.
            names = list(makers)
            turn = number % len(names)
            cells = {it: self.cell(row, makers[it]) for it in names[turn:] + names[:turn]}
            found["rows"][row] = {name: cells[name] for name in names}
            texts = (f"{it} {cell.get('ms', 'failed')}" for it, cell in found["rows"][row].items())
            tell(f"{scale:g} {values} {row}: {'; '.join(texts)}\n")
        # Should a library end the process, the parts so far are kept.
        self.keep(is_finished=False)

    def cell(self, row: str, make: str | Callable[[], Call]) -> dict[str, Any]:
        """The median of a call's times in milliseconds, and how many they are; or its error."""
        if isinstance(make, str):
            return {"error": make}
        try:
            answer, found = self.timed(make())
            if row in TEXTS:
                self.compare(row, answer)
            return found
        except Exception as error:
            return {"error": told_of(error)}
        finally:
            gc.collect()

    def timed(self, call: Call) -> tuple[Any, dict[str, Any]]:
        """The first call prepares the others, unless it takes all of the time."""
        taken: list[float] = []
        end = time.perf_counter() + self.seconds
        while not taken or (len(taken) <= self.rounds and time.perf_counter() < end):
            answer = None  # whose memory is released before
            start = time.perf_counter()
            answer = call()
            taken.append((time.perf_counter() - start) * 1000)
        counted = taken[1:] or taken
        return answer, {"ms": round(median(counted), 4), "calls": len(counted)}

    def compare(self, query: str, answer: Any) -> None:
        expected = self.expected.setdefault(query, answer)
        text = check.difference(query, answer, expected)
        if text is not None:
            raise WrongAnswer(text)

    def keep(self, *, is_finished: bool) -> None:
        self.found.update(took=round(time.monotonic() - self.start, 1), is_finished=is_finished)
        if self.path:
            self.path.write_text(json.dumps(self.found, indent=1) + "\n")
