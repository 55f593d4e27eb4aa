"""Measures rows with peers, and the machine's limits beside them."""

import gc
import json
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from . import machine
from .fresh import in_fresh_process
from .limits import LIMITS, Bare, Limits
from .measure import QUICK, Budget, measured
from .peers import PEERS, NotOffered, Peer
from .rows import Row, judged
from .space import Space
from .table import OURS, Result, cell_text
from .works import Works

# From here on memory is given back between measurements.
LARGE = 16 << 20
FORMAT = 1


def tell(text: str) -> None:
    print(text, end="", file=sys.stderr, flush=True)


def told_of(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


class Run:
    """One run: in one process unless a row is fresh, peers in turns row by row.

    After `seconds` nothing new is begun; rows of more than `largest` bytes are measured with so
    many.  The result goes to `path` after each row.
    """

    def __init__(
        self, names: Sequence[str], budget: Budget, seconds: float, largest: int, path: Path | None
    ) -> None:
        self.start, self.budget, self.path = time.monotonic(), budget, path
        self.end = self.start + seconds
        # Room on the host for three arrays, and for results that are kept.
        there = machine.first_match("/proc/meminfo", r"MemAvailable:\s+(\d+) kB") or "0"
        room = max(1 << 20, int(there) * 1024 // 10)
        self.largest = min(largest, 1 << (room.bit_length() - 1))
        self.driver = machine.Driver()
        self.peers: dict[str, Peer] = {}
        told = {name: self.opened(name) for name in names}
        ours = self.peers.get(OURS)
        self.found = Result(
            format=FORMAT,
            machine=machine.described(self.driver),
            settings={
                "environment": machine.settings(),
                "transfer_limits": ours.transfer_limits() if ours else {},
                "quick": budget is QUICK,
                "largest": self.largest,
            },
            peers=told,
            rows=[],
            limits={},
        )

    def opened(self, name: str) -> dict[str, Any]:
        """A peer's title, and its versions or why it is missing."""
        found: dict[str, Any] = {"title": PEERS[name].title}
        try:
            self.peers[name] = PEERS[name]()
            found["versions"] = self.peers[name].versions
        except Exception as error:
            found["missing"] = str(error) if isinstance(error, ImportError) else told_of(error)
        tell(f"{name}: {found.get('versions') or found['missing']}\n")
        self.driver.enter()
        return found

    def measure(self, rows: Sequence[Row], *, has_limits: bool) -> Result:
        rows = [row for row in rows if row.part != "sweep" or row.size <= self.largest]
        sizes = [row.size for row in rows] + [(1 << 30) * has_limits]
        self.space = Space(self.driver, min(max(sizes), self.largest))
        # Keeps the garbage collector from looking through all imports each time.
        gc.collect()
        gc.freeze()
        gc.disable()
        try:
            for number, row in enumerate(rows):
                tell(f"[{number + 1:3}/{len(rows)}] {row.title}:")
                self.found["rows"].append(self.row(row, number))
                tell(f"  ({time.monotonic() - self.start:.0f} s)\n")
                # Should a library end the process, the rows so far are kept.
                self.keep(is_finished=False)
            for name, (size, _) in LIMITS.items() if has_limits else ():
                self.limit(name, size)
        finally:
            gc.unfreeze()
            gc.enable()
        self.keep(is_finished=True)
        return self.found

    def keep(self, *, is_finished: bool) -> None:
        self.found.update(took=round(time.monotonic() - self.start, 1), is_finished=is_finished)
        if self.path:
            self.path.write_text(json.dumps(self.found, indent=1) + "\n")

    def row(self, row: Row, number: int) -> dict[str, Any]:
        size = min(row.size, self.largest)
        cells = {name: {"not_offered": "only ours is measured"} for name in self.peers}
        found = row.measured_with(size) | {"cells": cells}
        # Not always the same one first: a peer that follows another may find caches warm.
        names = [name for name in self.peers if name == OURS or not row.is_alone]
        turn = number % max(1, len(names))
        for name in names[turn:] + names[:turn]:
            cells[name] = self.cell(row, name, size)
            tell(f" {name} {cell_text(cells[name], found)};")
        if row.limit:
            limit_size = size if row.limit_size is None else row.limit_size
            found["limit"] = self.limit(row.limit, limit_size)
        return judged(found, is_simulated=self.found["machine"]["is_simulated"])

    def cell(self, row: Row, name: str, size: int) -> dict[str, Any]:
        if row.is_fresh:
            return self.tried(lambda: in_fresh_process(row, name, size, self.budget))
        peer = self.peers[name]
        prepare = getattr(Works(peer, self.space, self.budget), row.work)
        found = self.tried(lambda: measured(prepare(size, **row.options), self.budget))
        if size >= LARGE:
            # A failure shows in what comes next, if it matters.
            with suppress(Exception):
                peer.trim()
        return found

    def limit(self, name: str, size: int) -> str:
        """Measures a limit, unless it has been; its key among them."""
        size = min(size, 2 * self.largest if name == "device-read" else self.largest)
        key = f"{name}/{size}"

        def best() -> dict[str, Any]:
            limits = Limits(Bare(self.driver), self.space, self.budget)
            trials = LIMITS[name][1](limits, size)
            times = [measured(case, self.budget) | {"how": how} for how, case in trials]
            return min(times, key=lambda each: each["median"])

        if key not in self.found["limits"]:
            found = self.tried(best)
            self.found["limits"][key] = {"name": name, "size": size} | found
        return key

    def tried(self, measure: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        if time.monotonic() > self.end:
            return {"left_out": "no time was left"}
        try:
            return measure()
        except NotOffered as reason:
            return {"not_offered": str(reason)}
        except KeyboardInterrupt:
            self.end = 0.0
            return {"left_out": "interrupted"}
        except Exception as error:
            return {"error": told_of(error)}
        finally:
            gc.collect()
