"""The best that the machine can do, by the driver alone: the rows are compared with it."""

from . import calls, copies, kernels, staged
from .base import LIMITS, Bench, Limit

# Limits that are of interest by themselves, with the bytes they are measured with.
GENERAL = (
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

__all__ = ["GENERAL", "LIMITS", "Bench", "Limit", "calls", "copies", "kernels", "staged"]
