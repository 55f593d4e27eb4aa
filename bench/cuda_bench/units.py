"""Sizes, times and rates as people read them."""

from __future__ import annotations

import re
from collections.abc import Callable

UNITS = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}


def size_text(size: int) -> str:
    for unit, scale in reversed(UNITS.items()):
        if size >= scale and size % scale == 0:
            return f"{size // scale} {unit}"
    return f"{size} B"


def size_of(text: str) -> int:
    """Bytes from `4096`, `4K`, `4 KiB`, ...; units are powers of 1024."""
    found = re.fullmatch(r"(\d+)\s*([KMG]?)(?:i?B)?", text.strip())
    if found is None:
        raise ValueError(f"no size in bytes: {text!r}; such as 4096, 64K or 1 GiB")
    return int(found[1]) * UNITS[found[2] + "iB" if found[2] else "B"]


def digits(value: float) -> str:
    """Three digits that count, or all before the point."""
    if value >= 99.95:
        return f"{value:.0f}"
    return f"{value:.1f}" if value >= 9.995 else f"{value:.2f}"


def time_text(seconds: float) -> str:
    if seconds < 1e-3:
        return f"{digits(seconds * 1e6)} us"
    return f"{digits(seconds * 1e3)} ms" if seconds < 1 else f"{digits(seconds)} s"


def rate_text(bytes_a_second: float) -> str:
    if bytes_a_second >= 1e12:
        return f"{digits(bytes_a_second / 1e12)} TB/s"
    return f"{digits(bytes_a_second / 1e9)} GB/s"


def memory_text(size: float) -> str:
    return f"{digits(size / 1e6)} MB" if size < 1e9 else f"{digits(size / 1e9)} GB"


# How values that are counted in place of time are shown; less of them is better.
COUNTED: dict[str, Callable[[float], str]] = {
    "bytes": memory_text,
    "ratio": digits,
    "cores": lambda count: f"{digits(count)} cores",
    "seconds a GB": lambda seconds: f"{digits(seconds)} s/GB",
}


def value_text(value: float, *, size: int, as_rate: bool, counts: str = "") -> str:
    """Seconds as a time, or as the rate of so many bytes; or what is counted in their place."""
    if counts:
        return COUNTED[counts](value)
    return rate_text(size / value) if as_rate else time_text(value)
