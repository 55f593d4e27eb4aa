"""Copies of several processes at the same time, and the first ones of a fresh process."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from threading import Barrier

import numpy as np

from ..measure import Budget, Summary, Trial
from ..peers import Peer
from ..space import STRIDE, Host, expect_equal
from .base import Setup, work
from .threads import results, time_together, times_for

# Not forked: CUDA does not work in a forked child.
SPAWN = multiprocessing.get_context("spawn")
# How many fresh processes make their first copies: each of them takes a second or more.
STARTS = 3

Maker = Callable[[], Peer]

# In another process: where it waits for the others.
together: Barrier


@work
def in_processes(setup: Setup, size: int, *, processes: int) -> Trial:
    """The time of a copy, as processes get through them together; each copies up and down."""
    maker = setup.peer.maker()

    def run(budget: Budget) -> Summary:
        together = (SPAWN.Barrier(processes),)
        with ProcessPoolExecutor(processes, SPAWN, begin_at, together) as pool:
            # Each waits for the others, so there is one task for each process.
            tasks = [pool.submit(up_and_down, maker, size, budget) for _ in range(processes)]
            turns = zip(*results(tasks), strict=True)
        return Summary.of(time_together(turn) / 2 for turn in turns)

    return Trial(run)


def begin_at(barrier: Barrier) -> None:
    global together
    together = barrier


def up_and_down(maker: Maker, size: int, budget: Budget) -> list[list[float]]:
    """In another process: the times of a copy up and one down, in each of several turns."""
    try:
        peer = maker()
        device, source, target = peer.allocator(size)(), random(size), random(size)
        upload, download = peer.upload(device, source), peer.download(device, target)
        wait = peer.waiter()

        def copy() -> None:
            upload()
            download()

        copy()
        turns = []
        for _ in range(budget.least):
            together.wait()
            turns.append(times_for(copy, wait, budget.seconds))
            wait()
            expect_equal(target.array, source)
            # The next comparison must see the bytes of the copies to come.
            source.array[::STRIDE] ^= 255
        return turns
    except BaseException:
        together.abort()
        raise


@work
def first_up(setup: Setup, size: int) -> Trial:
    """The first large copy of a process that has made a small one."""
    maker = setup.peer.maker()

    def took() -> float:
        with ProcessPoolExecutor(1, SPAWN) as pool:
            return pool.submit(first_copy, maker, size).result()

    return Trial(lambda budget: Summary.of(took() for _ in range(STARTS)))


def first_copy(maker: Maker, size: int) -> float:
    """In another process: the time of the first copy of so many bytes."""
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
    return took


def random(size: int) -> Host:
    return Host(np.random.default_rng().integers(0, 256, size, np.uint8))
