"""Memory that is allocated and released: one at a time, of random sizes, and many small ones."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from random import Random
from typing import Any, NamedTuple

import numpy as np

from ..measure import Budget, Case, Summary, Trial
from ..peers import NotOffered
from ..space import Host, expect_equal
from .base import Setup, work

# The smallest of random sizes.
SMALLEST = 1 << 10
# How many allocations and releases there are, for each time that a budget allows.
EACH = 10
# The reserved memory is read each time after so many of them.
OFTEN = 50
# How much memory the device must have, for each byte that may be in use.
SPARE = 2
# Written to both ends of a buffer, to show that its memory is its own.
END = 64


@work
def allocate(setup: Setup, size: int) -> Case:
    allocator = setup.peer.allocator(size)

    def check() -> None:
        device, source = allocator(), setup.space.source(size)
        setup.send(device, source)
        setup.expect(device, source)

    return Case.plain(allocator, check)


@work
def allocate_pinned(setup: Setup, size: int) -> Case:
    allocator = setup.peer.pinned_allocator(size)

    def check() -> None:
        memory, device, source = allocator(), setup.device(size), setup.space.source(size)
        # CuPy's and Arrow's have the buffer protocol, PyTorch's is an array.
        array = np.asarray(memory) if hasattr(memory, "__array__") else np.frombuffer(memory, "u1")
        pinned = Host(array[:size], is_pinned=True)
        pinned.array[:] = source.array
        setup.send(device, pinned)
        setup.expect(device, source)

    return Case.plain(allocator, check)


class Step(NamedTuple):
    """An allocation of `size` bytes; with 0 bytes the release of the buffer at `place`, which the
    last buffer of the list takes.
    """

    size: int
    place: int


class Plan(NamedTuple):
    """Steps, the sizes of the buffers that are left at the end, and the most bytes in use."""

    steps: list[Step]
    left: list[int]
    most: int


def planned(count: int, largest: int, room: int) -> Plan:
    """So many steps of random sizes, with no more than `room` bytes in use; the same each time."""
    random = Random(5)
    powers = SMALLEST.bit_length() - 1, largest.bit_length() - 1
    sizes: list[int] = []
    steps: list[Step] = []
    used = most = 0
    while len(steps) < count:
        size = int(2 ** random.uniform(*powers))
        if sizes and (used + size > room or random.random() < 0.45):
            place = random.randrange(len(sizes))
            used -= sizes[place]
            sizes[place] = sizes[-1]
            del sizes[-1]
            steps.append(Step(0, place))
        else:
            used += size
            most = max(most, used)
            sizes.append(size)
            steps.append(Step(size, 0))
    return Plan(steps, sizes, most)


Calls = Sequence[tuple[Callable[[], Any] | None, int]]


def go(calls: Calls, alive: list[Any]) -> None:
    """Does the steps, to buffers that are alive."""
    for allocate, place in calls:
        if allocate is not None:
            alive.append(allocate())
        else:
            alive[place] = alive[-1]
            del alive[-1]


@work
def random_sizes(setup: Setup, size: int, *, alive: int) -> Trial:
    """The time of an allocation or release, from an empty cache on."""

    def value(plan: Plan, calls: Calls, buffers: list[Any]) -> float:
        start = time.perf_counter()
        go(calls, buffers)
        return (time.perf_counter() - start) / len(plan.steps)

    return in_use(setup, size, alive * size, value)


@work
def random_reserved(setup: Setup, size: int, *, alive: int) -> Trial:
    """How much device memory is reserved at most, for each byte that is in use at most."""

    def value(plan: Plan, calls: Calls, buffers: list[Any]) -> float:
        before = setup.peer.reserved()
        most = 0
        for start in range(0, len(calls), OFTEN):
            go(calls[start : start + OFTEN], buffers)
            most = max(most, setup.peer.reserved() - before)
        return most / plan.most

    return in_use(setup, size, alive * size, value)


def in_use(
    setup: Setup, largest: int, room: int, value: Callable[[Plan, Calls, list[Any]], float]
) -> Trial:
    """A value of a plan's steps, each time from an empty cache on."""
    peer = setup.peer
    peer.reserved()  # refuses a peer whose memory cannot be compared
    peer.trim()
    if setup.space.driver.free_memory() < SPARE * room:
        raise NotOffered("the device has too little memory")
    buffers: list[Any] = []
    sizes: list[int] = []

    def run(budget: Budget) -> Summary:
        plan = planned(EACH * budget.most, largest, room)
        sizes[:] = plan.left
        calls = [(peer.allocator(size) if size else None, place) for size, place in plan.steps]
        values = []
        for _ in range(budget.least):
            buffers.clear()
            peer.trim()
            values.append(value(plan, calls, buffers))
        return Summary.of(values)

    return Trial(run, lambda: expect_own_memory(setup, buffers, sizes))


def expect_own_memory(setup: Setup, buffers: Sequence[Any], sizes: Sequence[int]) -> None:
    """No buffer has memory of another one: what is written to their ends stays there."""
    wanted: list[tuple[Any, Host]] = []
    for buffer, size in zip(buffers, sizes, strict=True):
        ends = [(0, size)] if size <= 2 * END else [(0, END), (size - END, END)]
        wanted += [(setup.peer.view(buffer, *end), setup.space.fresh(end[1])) for end in ends]
    for view, host in wanted:
        setup.send(view, host)
    for view, host in wanted:
        expect_equal(setup.peer.fresh(view)(), host)


@work
def small_buffers(setup: Setup, size: int, *, count: int) -> Trial:
    """How much of the device's memory so many buffers take, beside an empty cache."""
    each = max(1, size // count)
    allocate, driver = setup.peer.allocator(each), setup.space.driver
    alive: list[Any] = []

    def taken() -> int:
        alive.clear()
        setup.peer.trim()
        free = driver.free_memory()
        alive.extend(allocate() for _ in range(count))
        # Other processes may have released some meanwhile.
        return max(0, free - driver.free_memory())

    def run(budget: Budget) -> Summary:
        return Summary.of(taken() for _ in range(budget.least))

    return Trial(run, lambda: expect_own_memory(setup, alive, count * [each]))
