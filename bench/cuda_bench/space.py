"""The host memory that all peers copy from and to."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .driver import Driver
from .measure import WrongResult

Bytes = NDArray[np.uint8]
# No library copies smaller pieces than this by themselves.
STRIDE = 16 << 10
# The size for rows without a size of their own.
LEAST = 1 << 16


@dataclass(frozen=True)
class Host:
    """A part of the host's memory."""

    array: Bytes
    is_pinned: bool = False

    @property
    def size(self) -> int:
        return self.array.size

    @property
    def address(self) -> int:
        return int(self.array.ctypes.data)

    def part(self, start: int, size: int) -> Host:
        return Host(self.array[start : start + size], self.is_pinned)


class Space:
    """Two ordinary arrays and a pinned one, random or touched, of `largest` bytes."""

    def __init__(self, driver: Driver, largest: int) -> None:
        self.driver = driver
        self._random = np.random.default_rng()
        largest = max(largest, LEAST)
        self._pinned = driver.allocate_pinned(largest)
        memory = (ctypes.c_uint8 * largest).from_address(self._pinned)
        self._pinned_array: Bytes = np.ctypeslib.as_array(memory)
        self._pinned_array[:] = self.fresh(largest).array
        self._source, self._target = self.fresh(largest).array, self.fresh(largest).array

    def source(self, size: int, *, pinned: bool = False) -> Host:
        """Random bytes, other ones each time: nothing left over from before looks like them."""
        return self.changed(Host((self._pinned_array if pinned else self._source)[:size], pinned))

    def target(self, size: int, *, pinned: bool = False, start: int = 0) -> Host:
        """Memory to copy to, with bytes that are not those of the source."""
        array = self._pinned_array if pinned else self._target
        return self.changed(Host(array[start : start + size], pinned))

    def changed(self, host: Host) -> Host:
        """The same memory with a byte of each `STRIDE` changed, and those at the end.

        A piece that a copy leaves out is noticed, though the memory was copied before.
        """
        at = self.number(min(host.size, STRIDE))
        for part in (host.array[at::STRIDE], host.array[max(0, host.size - 8) :]):
            part ^= self._random.integers(1, 256, part.size, np.uint8)
        return host

    def fresh(self, size: int) -> Host:
        """Random bytes in an array of their own."""
        words = self._random.integers(0, 1 << 64, -(-size // 8), np.uint64)
        return Host(words.view(np.uint8)[:size])

    def number(self, below: int) -> int:
        return int(self._random.integers(below))

    def close(self) -> None:
        del self._pinned_array
        self.driver.call("cuMemFreeHost", self._pinned)


_memcmp = ctypes.CDLL(None).memcmp
_memcmp.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t]


def expect_equal(found: Any, wanted: Host) -> None:
    """Raises WrongResult unless some memory (of the buffer protocol) has the wanted bytes."""
    array = np.frombuffer(found, np.uint8)
    if array.size != wanted.size:
        raise WrongResult(f"{array.size} bytes came back, not {wanted.size}")
    # NumPy's comparison would take as much memory again.
    if _memcmp(array.ctypes.data, wanted.address, wanted.size) != 0:
        raise WrongResult("other bytes came back than were sent")


def expect(found: object, wanted: object, what: str) -> None:
    if found != wanted:
        raise WrongResult(f"{what}: {found!r}, not {wanted!r}")
