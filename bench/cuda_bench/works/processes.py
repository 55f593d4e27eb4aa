"""Copies of several processes at the same time, and the first ones of a fresh process."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from contextlib import ExitStack

import numpy as np

from ..child import Child, Steps
from ..measure import Budget, Trial
from ..peers import Peer
from ..space import STRIDE, Host, Space, expect_equal
from ..stats import Summary
from .threads import time_together, times_for

# Seconds until all processes have heard when they begin.
SOON = 0.02
# How many fresh processes make their first copies: each of them takes a second or more.
STARTS = 3

Maker = Callable[[], Peer]


def in_processes(peer: Peer, space: Space, size: int, *, processes: int) -> Trial:
    """The time of a copy, as processes get through them together; each copies up and down."""
    maker = peer.maker()

    def run(budget: Budget) -> Summary:
        with ExitStack() as stack:
            children = [
                stack.enter_context(Child(up_and_down, maker, size)) for _ in range(processes)
            ]
            answers_of(children)
            times = []
            for _ in range(budget.least):
                begin = time.monotonic() + SOON
                for child in children:
                    child.tell((begin, budget.seconds))
                times.append(time_together(answers_of(children)) / 2)
            return Summary.of(times)

    return Trial(run)


def answers_of(children: Iterable[Child]) -> list[list[float]]:
    return [child.answer() for child in children]


def up_and_down(maker: Maker, size: int) -> Steps:
    """In a child: the times of a copy up and one down, from a moment on for so many seconds."""
    peer = maker()
    device, source, target = peer.allocator(size)(), random(size), random(size)
    upload, download, wait = (
        peer.upload(device, source),
        peer.download(device, target),
        peer.waiter(),
    )

    def copy() -> None:
        upload()
        download()

    copy()
    times: list[float] = []
    while True:
        wait()
        expect_equal(target.array, source)
        # The next comparison must see the bytes of the copies to come.
        source.array[::STRIDE] ^= 255
        begin, seconds = yield times
        time.sleep(max(0.0, begin - time.monotonic()))
        times = times_for(copy, wait, seconds)


def first_up(peer: Peer, space: Space, size: int) -> Trial:
    """The first large copy of a process that has made a small one."""
    maker = peer.maker()

    def run(budget: Budget) -> Summary:
        times = []
        for _ in range(STARTS):
            with Child(first_copy, maker, size) as child:
                times.append(child.answer())
        return Summary.of(times)

    return Trial(run)


def first_copy(maker: Maker, size: int) -> Steps:
    """In a child: the time of the first copy of so many bytes."""
    peer = maker()
    wait = peer.waiter()
    small, source = random(min(4096, size)), random(size)
    peer.upload(peer.allocator(small.size)(), small)()
    wait()
    device = peer.allocator(size)()
    upload = peer.upload(device, source)
    start = time.perf_counter()
    upload()
    wait()
    took = time.perf_counter() - start
    target = random(size)
    peer.download(device, target)()
    wait()
    expect_equal(target.array, source)
    yield took


def random(size: int) -> Host:
    return Host(np.random.default_rng().integers(0, 256, size, np.uint8))
