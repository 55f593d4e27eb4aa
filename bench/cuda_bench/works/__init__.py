"""How a row's work is prepared with a peer, and how its result is checked."""

from . import arrays, batches, copies, files, load, memory, processes, threads
from .base import WORKS, Setup

__all__ = [
    "WORKS",
    "Setup",
    "arrays",
    "batches",
    "copies",
    "files",
    "load",
    "memory",
    "processes",
    "threads",
]
