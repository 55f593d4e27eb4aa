"""The host memory that all peers copy from and to: arrays of single bytes."""

import ctypes
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from .machine import PORTABLE, Driver
from .measure import WrongResult

Host = NDArray[np.uint8]
# No library copies smaller pieces than this by themselves.
STRIDE = 16 << 10
# The size for rows without a size of their own.
LEAST = 1 << 16

random = np.random.default_rng()


def fresh(size: int) -> Host:
    """Random bytes in an array of their own."""
    words = random.integers(0, 1 << 64, -(-size // 8), np.uint64)
    return words.view(np.uint8)[:size]


def pinned(driver: Driver, size: int) -> Host:
    """Pinned memory, which is released with the last reference to it."""
    memory = driver.owned("cuMemHostAlloc", "cuMemFreeHost", size, PORTABLE)
    array = (ctypes.c_uint8 * size).from_address(memory.value)
    array.memory = memory  # type: ignore[attr-defined]
    return np.ctypeslib.as_array(array)


def changed(host: Host) -> Host:
    """The same memory with a byte of each `STRIDE` changed, and those at the end.

    A piece that a copy leaves out is noticed, though the memory was copied before.
    """
    at = int(random.integers(min(host.size, STRIDE)))
    for part in (host[at::STRIDE], host[max(0, host.size - 8) :]):
        part ^= random.integers(1, 256, part.size, np.uint8)
    return host


class Space:
    """Two ordinary arrays and a pinned one, random or touched, of `largest` bytes."""

    def __init__(self, driver: Driver, largest: int) -> None:
        self.driver = driver
        largest = max(largest, LEAST)
        self.pinned = pinned(driver, largest)
        self.pinned[:] = fresh(largest)
        self.first, self.second = fresh(largest), fresh(largest)

    def source(self, size: int, *, pinned: bool = False) -> Host:
        """Random bytes, other ones each time: nothing left over from before looks like them."""
        return changed((self.pinned if pinned else self.first)[:size])

    def target(self, size: int, *, pinned: bool = False, start: int = 0) -> Host:
        """Memory to copy to, with bytes that are not those of the source."""
        return changed((self.pinned if pinned else self.second)[start:][:size])


def expect_equal(found: Any, wanted: Any) -> None:
    """Raises WrongResult unless two memories (of the buffer protocol) have the same bytes."""
    # NumPy's comparison would take as much memory again.
    if not pa.py_buffer(found).equals(pa.py_buffer(wanted)):
        raise WrongResult("other bytes came back than were sent")


def expect(found: object, wanted: object, what: str) -> None:
    if found != wanted:
        raise WrongResult(f"{what}: {found!r}, not {wanted!r}")
