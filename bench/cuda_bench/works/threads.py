"""Copies that several threads of a program make at the same time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain, cycle, islice
from threading import Barrier, BrokenBarrierError, Event
from typing import TypeVar

import numpy as np

from ..measure import Budget, Case, Summary, Trial, measure
from ..peers import Call, Peer
from ..space import expect_equal
from .base import Setup, work

T = TypeVar("T")

# More short calls than the time is enough for: it has to show what the neighbour does.
MANY = 20_000


@work
def in_threads(setup: Setup, size: int, *, threads: int, ways: str) -> Trial:
    """The time of a copy, as threads get through them together: each copies memory of its own, one
    copy after the other.  Its p99 is of the time that a copy takes its thread.
    """
    each_way = islice(cycle(ways.split("+")), threads)
    calls, checks = zip(*(one_way(setup, size, way) for way in each_way), strict=True)
    setup.peer.waiter()()

    def run(budget: Budget) -> Summary:
        turns = [
            beside_each_other(setup.peer, calls, budget.seconds / 2) for _ in range(budget.least)
        ]
        each = list(chain.from_iterable(chain.from_iterable(turns)))
        summary = Summary.of(map(time_together, turns))
        return replace(summary, p99=float(np.quantile(each, 0.99)))

    def check() -> None:
        for one in checks:
            one()

    return Trial(run, check)


def one_way(setup: Setup, size: int, way: str) -> tuple[Call, Call]:
    """A copy `up` or `down` of memory of its own, and the check of its result."""
    device, source = setup.device(size), setup.space.fresh(size)
    if way == "up":
        return setup.peer.upload(device, source), lambda: setup.expect(device, source)
    setup.send(device, source)
    target = setup.space.fresh(size)
    return setup.peer.download(device, target), lambda: expect_equal(target.array, source)


def beside_each_other(peer: Peer, calls: Sequence[Call], seconds: float) -> list[list[float]]:
    """The times of the calls that each thread has made, all for so long."""
    together = Barrier(len(calls))

    def work(call: Call) -> list[float]:
        try:
            with peer.on_thread() as wait:
                call()
                wait()
                together.wait()
                return times_for(call, wait, seconds)
        except BaseException:
            together.abort()
            raise

    with ThreadPoolExecutor(len(calls)) as pool:
        return results([pool.submit(work, call) for call in calls])


def results(tasks: Sequence[Future[T]]) -> list[T]:
    failures = [failure for task in tasks if (failure := task.exception())]
    # A barrier is broken because another task failed.
    for failure in sorted(failures, key=lambda failure: isinstance(failure, BrokenBarrierError)):
        raise failure
    return [task.result() for task in tasks]


def times_for(
    call: Call, wait: Call, seconds: float, clock: Callable[[], float] = time.perf_counter
) -> list[float]:
    times: list[float] = []
    now = clock()
    end = now + seconds
    while now < end:
        call()
        wait()
        before, now = now, clock()
        times.append(now - before)
    return times


def time_together(threads: Sequence[Sequence[float]]) -> float:
    """The time of a call, where each thread has made some at a rate of its own."""
    return 1 / sum(len(times) / sum(times) for times in threads)


@work
def small_beside_large(setup: Setup, size: int, *, small: int) -> Trial:
    """A small copy, while another thread makes large ones."""
    peer, large_source = setup.peer, setup.space.source(size)
    source = setup.space.fresh(min(small, size))
    large_device, device = setup.device(size), setup.device(source.size)
    large_upload, upload = peer.upload(large_device, large_source), peer.upload(device, source)
    peer.waiter()()

    def run(budget: Budget) -> Summary:
        with neighbour(peer, large_upload), peer.on_thread() as wait:
            return measure(Case.waited(upload, wait), replace(budget, most=MANY))

    def check() -> None:
        setup.expect(device, source)
        setup.expect(large_device, large_source)

    return Trial(run, check)


@contextmanager
def neighbour(peer: Peer, call: Call) -> Iterator[None]:
    """Another thread makes the call, over and over."""
    begun, ended = Event(), Event()

    def work() -> None:
        try:
            with peer.on_thread() as wait:
                while not ended.is_set():
                    call()
                    wait()
                    begun.set()
        finally:
            begun.set()

    with ThreadPoolExecutor(1) as pool:
        task = pool.submit(work)
        begun.wait()
        try:
            yield
        finally:
            ended.set()
        task.result()
