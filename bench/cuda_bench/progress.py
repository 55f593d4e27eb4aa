"""Tells, while it runs, what is measured and how long it will take."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TextIO

from .units import clock_text


class Progress:
    """Lines that grow; on a terminal with what runs at the moment behind them."""

    def __init__(
        self, out: TextIO, rows: int, weight: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._out, self._clock, self._start = out, clock, clock()
        self._rows, self._weight = rows, weight
        self._row, self._done, self._behind = 0, 0.0, 0

    def row(self, title: str) -> None:
        self._row += 1
        self._write(f"[{self._row:3}/{self._rows}] {title}:")

    def running(self, name: str) -> None:
        if self._out.isatty():
            self._wipe()
            text = f"  ... {name}, {self.times()}"
            self._out.write(text)
            self._behind = len(text)
            self._out.flush()

    def cell(self, text: str, weight: float) -> None:
        self._done += weight
        self._write(f" {text};")

    def end_of_row(self) -> None:
        self._write(f"  ({self.times()})\n")

    def note(self, text: str) -> None:
        self._write(f"{text}\n")

    @property
    def elapsed(self) -> float:
        return self._clock() - self._start

    def times(self) -> str:
        """Time that has passed, and time to come, as far as the work done tells."""
        text = f"elapsed {clock_text(self.elapsed)}"
        if self._done == 0:
            return text
        left = self.elapsed / self._done * max(0.0, self._weight - self._done)
        return f"{text}, left {clock_text(left)}"

    def _wipe(self) -> None:
        back = "\b" * self._behind
        self._out.write(back + " " * self._behind + back)
        self._behind = 0

    def _write(self, text: str) -> None:
        if self._behind:
            self._wipe()
        self._out.write(text)
        self._out.flush()
