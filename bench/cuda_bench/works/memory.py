"""Memory that is allocated and released: one at a time, of random sizes, and many small ones."""

import time
from collections.abc import Iterable
from functools import partial
from random import Random
from typing import Any

import numpy as np

from ..measure import Case, Trial, counted, repeated
from ..peers import NotOffered
from ..space import expect_equal, fresh
from .base import Setup

# The smallest of random sizes.
SMALLEST = 1 << 10
# How many allocations and releases there are, for each time that a budget allows.
EACH = 10
# The reserved memory is read after each group of this many.
OFTEN = 50
# How much memory the device must have, for each byte that may be in use.
SPARE = 2
# Written to both ends of a buffer, to show that its memory is its own.
END = 64


def planned(count: int, largest: int, room: int) -> tuple[list[tuple[int, int]], int]:
    """Steps of random sizes, the same each time, and the most bytes in use, `room` at most.

    A step is the number of a buffer, with a size to allocate it, or 0 to release it.
    """
    random = Random(5)
    powers = SMALLEST.bit_length() - 1, largest.bit_length() - 1
    alive: list[int] = []
    plan: list[tuple[int, int]] = []
    used = most = 0
    for number in range(count):
        size = int(2 ** random.uniform(*powers))
        if alive and (used + size > room or random.random() < 0.45):
            place = random.randrange(len(alive))
            alive[place], alive[-1] = alive[-1], alive[place]
            used -= plan[alive[-1]][1]
            plan.append((alive.pop(), 0))
        else:
            used += size
            most = max(most, used)
            alive.append(number)
            plan.append((number, size))
    return plan, most


class Memory(Setup):
    def allocate(self, size: int, *, pinned: bool = False) -> Case:
        allocate = partial(self.peer.allocate_pinned if pinned else self.peer.allocate, size)

        def check() -> None:
            memory, source = allocate(), self.space.source(size)
            if pinned:
                # PyTorch's is a tensor; others have the buffer protocol.
                array = memory.numpy() if hasattr(memory, "numpy") else memory
                host, memory = np.frombuffer(array, np.uint8)[:size], self.peer.allocate(size)
                host[:] = source
                source = host
            self.send(memory, source)
            self.expect(memory, source)

        return repeated(allocate, check)

    def random_sizes(self, size: int, *, alive: int, reserved: bool = False) -> Trial:
        """The time of an allocation or release, from an empty cache on; or how much device memory
        is reserved at most, for each byte that is in use at most.
        """
        peer, room = self.peer, alive * size
        peer.reserved()  # refuses a peer whose memory cannot be compared
        peer.trim()
        if self.space.driver.free_memory() < SPARE * room:
            raise NotOffered("the device has too little memory")
        buffers: dict[int, tuple[Any, int]] = {}
        plan, in_use = planned(EACH * self.budget.most, size, room)

        def take() -> float:
            buffers.clear()
            peer.trim()
            before, most = peer.reserved(), 0
            start = time.perf_counter()
            for step, (number, bytes_) in enumerate(plan):
                if bytes_:
                    buffers[number] = peer.allocate(bytes_), bytes_
                else:
                    del buffers[number]
                if reserved and step % OFTEN == 0:
                    most = max(most, peer.reserved() - before)
            took = time.perf_counter() - start
            return most / in_use if reserved else took / len(plan)

        return counted(take, partial(self.expect_own_memory, buffers.values()))

    def small_buffers(self, size: int, *, count: int) -> Trial:
        """How much of the device's memory `count` buffers take, beside an empty cache."""
        each, driver = max(1, size // count), self.space.driver
        buffers: list[tuple[Any, int]] = []

        def take() -> int:
            buffers.clear()
            self.peer.trim()
            free = driver.free_memory()
            buffers.extend((self.peer.allocate(each), each) for _ in range(count))
            # Other processes may have released some meanwhile.
            return max(0, free - driver.free_memory())

        return counted(take, partial(self.expect_own_memory, buffers))

    def expect_own_memory(self, buffers: Iterable[tuple[Any, int]]) -> None:
        """No buffer has memory of another one: what is written to their ends stays there."""
        wanted = []
        for buffer, size in buffers:
            ends = [(0, size)] if size <= 2 * END else [(0, END), (size - END, END)]
            wanted += [(self.peer.view(buffer, *end), fresh(end[1])) for end in ends]
        for view, host in wanted:
            self.send(view, host)
        for view, host in wanted:
            expect_equal(self.peer.fresh(view)(), host)
