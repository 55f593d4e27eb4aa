"""Measures rows with peers, and the machine's limits beside them."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any, TextIO

from . import machine
from .driver import Driver, is_simulated
from .goals import judged
from .limits import GENERAL, LIMITS, Bench
from .measure import FULL, QUICK, measure
from .peers import PEERS, Missing, NotOffered, Peer
from .rows import Row
from .space import Space
from .table import cell_text
from .works import WORKS, Setup

# From here on memory is given back between measurements.
LARGE = 16 << 20
FORMAT = 1


@dataclass(frozen=True)
class Options:
    """After `seconds` nothing new is begun; rows of more than `largest` bytes are measured with so
    many.
    """

    rows: Sequence[Row]
    peers: Sequence[str]
    limits: bool = True
    quick: bool = False
    seconds: float = 300.0
    largest: int = 1 << 40


class Run:
    """One run: everything in one process, peers in turns row by row."""

    def __init__(
        self, options: Options, out: TextIO, save: Callable[[dict[str, Any]], None] = lambda _: None
    ) -> None:
        self.options, self.out, self.save = options, out, save
        self.budget = QUICK if options.quick else FULL
        self.driver = Driver()
        # Three arrays of the host, and the memory of results.
        there = max(1 << 20, machine.available_memory() // 6)
        self.largest = min(options.largest, 1 << (there.bit_length() - 1))
        self.rows = [row for row in options.rows if row.part != "sweep" or row.size <= self.largest]
        self.start = time.monotonic()
        self.end = self.start + options.seconds
        self.limits: dict[str, dict[str, Any]] = {}

    def result(self) -> dict[str, Any]:
        self.open_peers()
        sizes = [row.size for row in self.rows] + [(1 << 30) * self.options.limits]
        self.space = Space(self.driver, min(max(sizes), self.largest))
        self.bench = Bench(
            self.driver, self.space, self.budget, machine.cores(), self.options.quick
        )
        # Keeps the garbage collector from looking through all imports each time.
        gc.collect()
        gc.freeze()
        self.machine = machine.described(self.driver)
        rows: list[dict[str, Any]] = []
        for number, row in enumerate(self.rows):
            rows.append(judged(self.row(row, number), is_simulated=is_simulated()))
            # Should a library end the process, the rows so far are kept.
            self.save(self.all_of(rows, is_finished=False))
        if self.options.limits:
            for name, size in GENERAL:
                self.limit(name, size)
        self.space.close()
        found = self.all_of(rows, is_finished=True)
        self.save(found)
        return found

    def all_of(self, rows: list[dict[str, Any]], *, is_finished: bool) -> dict[str, Any]:
        return {
            "format": FORMAT,
            "machine": self.machine,
            "settings": machine.settings() | {"quick": self.options.quick, "largest": self.largest},
            "peers": self.told,
            "rows": rows,
            "limits": self.limits,
            "took": round(time.monotonic() - self.start, 1),
            "is_finished": is_finished,
        }

    def open_peers(self) -> None:
        self.peers: dict[str, Peer] = {}
        self.told: dict[str, dict[str, Any]] = {}
        for name in self.options.peers:
            told = self.told[name] = {"title": PEERS[name].title}
            try:
                peer = PEERS[name]()
                told["versions"] = versions = peer.versions()
                self.peers[name] = peer
                self.tell(f"{name}: {', '.join(map(' '.join, versions.items()))}\n")
            except Exception as error:
                is_missing = isinstance(error, Missing)
                told["missing"] = str(error) if is_missing else told_of(error)
                self.tell(f"{name}: {told['missing']}\n")
            self.driver.enter()

    def row(self, row: Row, number: int) -> dict[str, Any]:
        size = min(row.size, self.largest)
        cells: dict[str, dict[str, Any]] = {name: {} for name in self.peers}
        found = {
            "name": row.name,
            "title": row.title,
            "part": row.part,
            "size": size,
            "wanted_size": row.size,
            "as_rate": row.as_rate,
            "goal": row.goal and row.goal.as_dict(),
            "limit": None,
            "cells": cells,
        }
        if row.counts:
            found["counts"] = row.counts
        self.tell(f"[{number + 1:3}/{len(self.rows)}] {row.title}:")
        # Not always the same one first: a peer that follows another may find caches warm.
        names = list(self.peers)
        turn = number % len(names) if names else 0
        for name in names[turn:] + names[:turn]:
            cells[name] = self.cell(row, self.peers[name], size)
            self.tell(f" {name} {cell_text(cells[name], found)};")
        if row.limit:
            found["limit"] = self.limit(row.limit, row.limit_size, size, row.size)
        self.tell(f"  ({time.monotonic() - self.start:.0f} s)\n")
        return found

    def cell(self, row: Row, peer: Peer, size: int) -> dict[str, Any]:
        if time.monotonic() > self.end:
            return {"left_out": "no time was left"}
        try:
            work = WORKS[row.work](Setup(peer, self.space), size, **row.options)
            found = measure(work, self.budget)
            work.check()
            return asdict(found)
        except NotOffered as reason:
            return {"not_offered": str(reason)}
        except KeyboardInterrupt:
            self.end = 0.0
            return {"left_out": "interrupted"}
        except Exception as error:
            return {"error": told_of(error)}
        finally:
            work = None  # type: ignore[assignment]
            if size >= LARGE:
                gc.collect()
                # A failure shows in what comes next, if it matters.
                with suppress(Exception):
                    peer.trim()

    def limit(self, name: str, limit_size: int | None, size: int = 0, wanted: int = 0) -> str:
        """Measures a limit, unless it has been; its key among them."""
        # As much larger or smaller than the row as it should be.
        if limit_size is None:
            limit_size = size
        elif wanted > 0 and size < wanted:
            limit_size = limit_size * size // wanted
        limit_size = min(limit_size, 2 * self.largest if name == "device-read" else self.largest)
        key = f"{name}/{limit_size}"
        if key in self.limits:
            return key
        found = self.limits[key] = {"name": name, "size": limit_size}
        if time.monotonic() > self.end + 20:
            found["left_out"] = "no time was left"
            return key
        try:
            limit = LIMITS[name](self.bench, limit_size)
            found |= asdict(limit.times) | {"how": limit.how}
        except Exception as error:
            found["error"] = told_of(error)
        return key

    def tell(self, text: str) -> None:
        self.out.write(text)
        self.out.flush()


def told_of(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
