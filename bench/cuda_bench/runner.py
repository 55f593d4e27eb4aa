"""Measures rows with peers, and the machine's limits beside them."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TextIO

from . import machine
from .driver import Driver, is_simulated
from .judge import judged
from .limits import GENERAL, LIMITS, Bench
from .measure import FULL, QUICK, Budget, measure
from .peers import PEERS, Missing, NotOffered, Peer
from .progress import Progress
from .row import Row
from .space import Space
from .units import value_text
from .works import WORKS

# From here on memory is given back between measurements.
LARGE = 16 << 20
FORMAT = 1


@dataclass(frozen=True)
class Options:
    rows: Sequence[Row]
    peers: Sequence[str]
    limits: bool = True
    quick: bool = False
    seconds: float = 300.0
    """After so long nothing new is begun."""
    largest: int = 1 << 40
    """Rows with more bytes are measured with so many."""

    @property
    def budget(self) -> Budget:
        return QUICK if self.quick else FULL


def cost(size: int, budget: Budget) -> float:
    """About how long a measurement takes, in seconds."""
    return budget.seconds + 0.02 + size / 6e9 * (budget.warm_ups + 2)


class Run:
    """One run: everything in one process, peers in turns row by row."""

    def __init__(
        self, options: Options, out: TextIO, save: Callable[[dict[str, Any]], None] = lambda _: None
    ) -> None:
        self.options, self.out, self.save = options, out, save
        self.driver = Driver()
        # Three arrays of the host, and what results take.
        there = max(1 << 20, machine.available_memory() // 6)
        self.largest = min(options.largest, 1 << (there.bit_length() - 1))
        self.rows = [row for row in options.rows if row.part != "sweep" or row.size <= self.largest]
        self.end = time.monotonic() + options.seconds
        self.limits: dict[str, dict[str, Any]] = {}

    def result(self) -> dict[str, Any]:
        self.start = time.monotonic()
        opened, self.peers = self.open_peers()
        sizes = [min(row.size, self.largest) for row in self.rows]
        largest = max([*sizes, min(1 << 30, self.largest) if self.options.limits else 0])
        self.space = Space(self.driver, largest)
        self.bench = Bench(
            self.driver, self.space, self.options.budget, machine.cores(), self.options.quick
        )
        weight = sum(cost(size, self.options.budget) for size in sizes) * len(opened)
        self.progress = Progress(self.out, len(sizes), weight)
        for name, peer in self.peers.items():
            self.progress.note(f"{name}: {peer.get('missing') or described(peer['versions'])}")
        # Keeps the garbage collector from looking through all imports each time.
        gc.collect()
        gc.freeze()
        simulated = is_simulated()
        self.machine = machine.described(self.driver)
        rows: list[dict[str, Any]] = []
        for number, row in enumerate(self.rows):
            rows.append(judged(self.row(row, opened, number), is_simulated=simulated))
            # Should the process die of what a library does, this is left.
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
            "peers": self.peers,
            "rows": rows,
            "limits": self.limits,
            "took": round(time.monotonic() - self.start, 1),
            "is_finished": is_finished,
        }

    def open_peers(self) -> tuple[dict[str, Peer], dict[str, dict[str, Any]]]:
        opened: dict[str, Peer] = {}
        told: dict[str, dict[str, Any]] = {}
        for name in self.options.peers:
            kind = PEERS[name]
            told[name] = {"title": kind.title}
            try:
                peer = kind()
                told[name]["versions"] = peer.versions()
                opened[name] = peer
            except Missing as reason:
                told[name]["missing"] = str(reason)
            except Exception as error:
                told[name]["missing"] = f"{type(error).__name__}: {error}"
            self.driver.enter()
        return opened, told

    def row(self, row: Row, peers: dict[str, Peer], number: int) -> dict[str, Any]:
        size = min(row.size, self.largest)
        self.progress.row(row.title)
        cells: dict[str, dict[str, Any]] = {}
        # Not always the same one first: what comes after another may find caches warm.
        names = list(peers)
        turn = number % len(names) if names else 0
        for name in names[turn:] + names[:turn]:
            self.progress.running(name)
            cells[name] = self.cell(row, peers[name], size)
            text = f"{name} {cell_text(cells[name], row, size)}"
            self.progress.cell(text, cost(size, self.options.budget))
        limit = self.limit(row.limit, row.limit_size, size, row.size) if row.limit else None
        self.progress.end_of_row()
        found = {
            "name": row.name,
            "title": row.title,
            "part": row.part,
            "size": size,
            "wanted_size": row.size,
            "as_rate": row.as_rate,
            "goal": row.goal and row.goal.as_dict(),
            "limit": limit,
            "cells": {name: cells[name] for name in names},
        }
        return found | {"counts": row.counts} if row.counts else found

    def cell(self, row: Row, peer: Peer, size: int) -> dict[str, Any]:
        if time.monotonic() > self.end:
            return {"left_out": "no time was left"}
        try:
            work = WORKS[row.work](peer, self.space, size, **dict(row.options))
            found = measure(work, self.options.budget)
            work.check()
            return found.as_dict()
        except NotOffered as reason:
            return {"not_offered": str(reason)}
        except KeyboardInterrupt:
            self.end = 0.0
            return {"left_out": "interrupted"}
        except Exception as error:
            return {"error": f"{type(error).__name__}: {error}"}
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
        found: dict[str, Any] = {"name": name, "size": limit_size}
        self.limits[key] = found
        if time.monotonic() > self.end + 20:
            found["left_out"] = "no time was left"
            return key
        try:
            limit = LIMITS[name](self.bench, limit_size)
            found |= limit.times.as_dict() | {"how": limit.how}
        except Exception as error:
            found["error"] = f"{type(error).__name__}: {error}"
        return key


def cell_text(cell: dict[str, Any], row: Row, size: int) -> str:
    if "median" not in cell:
        return "failed" if "error" in cell else "-"
    return value_text(cell["median"], size=size, as_rate=row.as_rate, counts=row.counts)


def described(versions: dict[str, str]) -> str:
    return ", ".join(f"{name} {version}" for name, version in versions.items())
