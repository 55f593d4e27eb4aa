"""Buffers of random sizes, and many small ones: their time, and what they take of the device."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from random import Random
from typing import Any, NamedTuple

from ..measure import Budget, Trial
from ..peers import NotOffered, Peer
from ..space import Host, Space, expect_equal
from ..stats import Summary

# Of random sizes.
SMALLEST = 1 << 10
# How many allocations and releases there are, for each time that a budget allows.
EACH = 10
# After so many of them it is looked how much memory is reserved.
OFTEN = 50
# How much memory the device must have, for each byte that may be in use.
SPARE = 2
# Written to both ends of a buffer, to show that its memory is its own.
END = 64


class Step(NamedTuple):
    """An allocation of so many bytes; or, of none, the release of a buffer, whose place in the list
    the last one takes.
    """

    size: int
    place: int


class Plan(NamedTuple):
    steps: list[Step]
    left: list[int]
    """The sizes of the buffers that are left at the end."""
    most: int
    """The most bytes that are in use."""


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


def random_sizes(peer: Peer, space: Space, size: int, *, alive: int) -> Trial:
    """The time of an allocation or release, from an empty cache on."""

    def value(plan: Plan, calls: Calls, buffers: list[Any]) -> float:
        start = time.perf_counter()
        go(calls, buffers)
        return (time.perf_counter() - start) / len(plan.steps)

    return in_use(peer, space, size, alive * size, value)


def random_reserved(peer: Peer, space: Space, size: int, *, alive: int) -> Trial:
    """How much device memory is reserved at most, for each byte that is in use at most."""

    def value(plan: Plan, calls: Calls, buffers: list[Any]) -> float:
        before = peer.reserved()
        most = 0
        for start in range(0, len(calls), OFTEN):
            go(calls[start : start + OFTEN], buffers)
            most = max(most, peer.reserved() - before)
        return most / plan.most

    return in_use(peer, space, size, alive * size, value)


def in_use(
    peer: Peer,
    space: Space,
    largest: int,
    room: int,
    value: Callable[[Plan, Calls, list[Any]], float],
) -> Trial:
    """What a plan gives, each time from an empty cache on, and with those that can be compared."""
    peer.reserved()
    peer.trim()
    if space.driver.free_memory() < SPARE * room:
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

    return Trial(run, lambda: expect_own_memory(peer, space, buffers, sizes))


def expect_own_memory(
    peer: Peer, space: Space, buffers: Sequence[Any], sizes: Sequence[int]
) -> None:
    """No buffer has memory of another one: what is written to their ends stays there."""
    wanted: list[tuple[Any, Host]] = []
    for buffer, size in zip(buffers, sizes, strict=True):
        ends = [(0, size)] if size <= 2 * END else [(0, END), (size - END, END)]
        wanted += [(peer.view(buffer, *end), space.fresh(end[1])) for end in ends]
    for view, host in wanted:
        peer.upload(view, host)()
    peer.waiter()()
    for view, host in wanted:
        expect_equal(peer.fresh(view)(), host)


def small_buffers(peer: Peer, space: Space, size: int, *, count: int) -> Trial:
    """How much of the device's memory so many buffers take, beside an empty cache."""
    each = max(1, size // count)
    allocate = peer.allocator(each)
    alive: list[Any] = []

    def taken() -> int:
        alive.clear()
        peer.trim()
        free = space.driver.free_memory()
        alive.extend(allocate() for _ in range(count))
        # Other processes may have released some meanwhile.
        return max(0, free - space.driver.free_memory())

    def check() -> None:
        expect_own_memory(peer, space, alive, count * [each])

    return Trial(lambda budget: Summary.of(taken() for _ in range(budget.least)), check)
