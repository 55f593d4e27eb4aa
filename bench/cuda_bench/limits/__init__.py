"""What the machine can do at best, by the driver itself: what the rows are compared with."""

from __future__ import annotations

from collections.abc import Callable

from . import calls, copies, device
from .base import Bench, Limit

Maker = Callable[[Bench, int], Limit]

# By the names that rows refer to.
LIMITS: dict[str, Maker] = copies.LIMITS | device.LIMITS | calls.LIMITS

# Those that are of interest by themselves, with the bytes they are measured with.
GENERAL: tuple[tuple[str, int], ...] = (
    ("pinned-up", 1 << 30),
    ("pinned-down", 1 << 30),
    ("pinned-both", 128 << 20),
    ("driver-up", 1 << 30),
    ("driver-down", 1 << 30),
    ("staged-up", 1 << 30),
    ("staged-down", 1 << 30),
    ("memcpy-1", 1 << 30),
    ("memcpy-all", 1 << 30),
    ("device-copy", 1 << 30),
    ("device-read", 2 << 30),
    ("alloc", 64 << 20),
    ("alloc-async", 64 << 20),
    ("launch", 0),
    ("push-pop", 0),
    ("ctypes", 0),
)

__all__ = ["GENERAL", "LIMITS", "Bench", "Limit"]
