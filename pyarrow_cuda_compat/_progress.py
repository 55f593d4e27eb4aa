"""What a call tells of its progress: a callback of the program, or a bar on standard error."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

#: Is called with the bytes done, and all bytes, or None where nobody knows these.
Report: TypeAlias = Callable[[int, int | None], object]
#: The argument of a call.
Progress: TypeAlias = Report | bool | None

#: Seconds between two changes of a line.
_INTERVAL = 0.1
_UNITS = ("bytes", "KiB", "MiB", "GiB", "TiB")


class _Line:
    """A line of text, for a terminal; of a log only its end."""

    def __init__(self, title: str) -> None:
        self._title, self._text, self._shown = title, "", 0.0
        self._file: Any = sys.stderr
        self._is_terminal = self._file is not None and self._file.isatty()

    def __call__(self, done: int, total: int | None) -> None:
        self._text = f"{self._title}: {_size(done)}"
        if total is not None:
            part = f"{100 * done // total} %" if total else "100 %"
            self._text += f" of {_size(total)}, {part}"
        if self._is_terminal and time.monotonic() - self._shown > _INTERVAL:
            self._shown = time.monotonic()
            self._file.write(f"\r{self._text}\x1b[K")
            self._file.flush()

    def close(self) -> None:
        if self._text and self._file is not None:
            start, rest = ("\r", "\x1b[K") if self._is_terminal else ("", "")
            self._file.write(f"{start}{self._text}{rest}\n")
        self._text = ""


class _Tqdm:
    """A bar of tqdm."""

    def __init__(self, tqdm: Any, title: str) -> None:
        self._bar = tqdm(desc=title, unit="B", unit_scale=True, unit_divisor=1024)

    def __call__(self, done: int, total: int | None) -> None:
        self._bar.total = total
        self._bar.update(done - self._bar.n)

    def close(self) -> None:
        self._bar.close()


def _size(nbytes: int) -> str:
    if nbytes < 1024:
        return f"{nbytes} bytes"
    power = min((nbytes.bit_length() - 1) // 10, len(_UNITS) - 1)
    return f"{nbytes / (1 << 10 * power):.1f} {_UNITS[power]}"


def report_of(progress: Progress, title: str) -> Report | None:
    """What to call for an argument `progress`; `end` ends it.

    Raises
    ------
    TypeError
        If it is neither a callable, a bool nor None.
    """
    if progress is None or progress is False:
        return None
    if progress is True:
        try:
            from tqdm.auto import tqdm  # type: ignore[import-untyped,unused-ignore]
        except ImportError:
            return _Line(title)
        return _Tqdm(tqdm, title)
    if not callable(progress):
        raise TypeError(
            "Argument 'progress' has incorrect type (expected True for a bar, or a callable that "
            f"takes the bytes done and all bytes, got {type(progress).__name__})"
        )
    return progress


def end(report: Report | None) -> None:
    """To be called when nothing more is reported."""
    if isinstance(report, _Line | _Tqdm):
        report.close()


@contextmanager
def reporting(progress: Progress, title: str) -> Iterator[Report | None]:
    """What to call for an argument `progress` within a block."""
    report = report_of(progress, title)
    try:
        yield report
    finally:
        end(report)
