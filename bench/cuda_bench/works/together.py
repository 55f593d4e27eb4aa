"""Copies of several threads or processes at a time, and the first ones of a fresh process."""

import multiprocessing
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent import futures
from contextlib import contextmanager
from itertools import chain, cycle, islice
from threading import Barrier, Event

from ..measure import Budget, Call, Case, Trial, counted, nothing, summary
from ..peers import Peer
from ..space import changed, expect_equal, fresh
from .base import Setup

# The times of the calls of each turn.
Turns = list[list[float]]

# More short calls than the time is enough for: it has to show what the neighbour does.
MANY = 20_000
# Of the copies that come before those of a crowd.
SMALL = 4096
# Not forked: CUDA does not work in a forked child.
SPAWN = multiprocessing.get_context("spawn")

# In another process: where it waits for the others.
together: Barrier


def begin_at(barrier: Barrier) -> None:
    global together
    together = barrier


def turns(call: Call, finish: Call, together: Barrier, budget: Budget, check: Call) -> Turns:
    """Calls of a thread or process, which begins each turn together with the others."""
    call()
    finish()
    found: Turns = []
    for _ in range(budget.least):
        together.wait()
        now = time.perf_counter()
        end = now + budget.seconds
        found.append([])
        while now < end:
            call()
            finish()
            before, now = now, time.perf_counter()
            found[-1].append(now - before)
        check()
    return found


def results(tasks: Sequence[futures.Future[Turns]], together: Barrier) -> list[Turns]:
    """Of all tasks; once one has failed, the others do not wait for it any more."""
    done, _ = futures.wait(tasks, return_when=futures.FIRST_EXCEPTION)
    together.abort()
    # The failure comes first, and then those of tasks that waited for it.
    return [task.result() for task in (*done, *tasks)][len(done) :]


def times_together(workers: Sequence[Turns]) -> list[float]:
    """The time of a call in each turn, where each worker has made some at a rate of its own."""
    every = zip(*workers, strict=True)
    return [1 / sum(len(times) / sum(times) for times in turn) for turn in every]


@contextmanager
def neighbour(peer: Peer, call: Call) -> Iterator[None]:
    """Another thread makes the call, over and over."""
    begun, ended = Event(), Event()

    def work() -> None:
        with peer.on_thread() as finish:
            while not ended.is_set():
                call()
                finish()
                begun.set()

    with futures.ThreadPoolExecutor(1) as pool:
        task = pool.submit(work)
        task.add_done_callback(lambda _: begun.set())
        begun.wait()
        try:
            yield
        finally:
            ended.set()
        task.result()


def up_and_down(maker: Callable[[], Peer], size: int, budget: Budget) -> Turns:
    """In another process: copies up and down."""
    peer = maker()
    device, source, target = peer.allocate(size), fresh(size), fresh(size)
    upload, download = peer.upload(device, source), peer.download(device, target)

    def copy() -> None:
        upload()
        download()

    def check() -> None:
        expect_equal(target, source)
        # The next comparison must see the bytes of the copies to come.
        changed(source)

    return turns(copy, peer.wait, together, budget, check)


def first_copy(maker: type[Peer], size: int) -> float:
    """In another process: the time of the first large copy."""
    peer = maker()
    small, source, target = fresh(min(4096, size)), fresh(size), fresh(size)
    peer.upload(peer.allocate(small.size), small)()
    peer.wait()
    device = peer.allocate(size)
    upload = peer.upload(device, source)
    start = time.perf_counter()
    upload()
    peer.wait()
    took = time.perf_counter() - start
    peer.download(device, target)()
    peer.wait()
    expect_equal(target, source)
    return took


class Together(Setup):
    def in_threads(
        self, size: int, *, threads: int, ways: str, first: str = "", apart: bool = False
    ) -> Trial:
        """The time of a copy, as threads get through them together: each copies memory of its own,
        one copy after the other.  Its p99 and its tail are of the time that a copy takes its
        thread, and so is all of it if they are taken apart.  Small copies of as many threads, or
        one large one, can come first.
        """
        if first == "small":
            self.in_threads(min(SMALL, size), threads=threads, ways=ways).run(self.budget)
        elif first == "one":
            self.send(self.peer.allocate(size), self.space.source(size))
        each_way = islice(cycle(ways.split("+")), threads)
        calls, checks = zip(*(self.one_way(size, way) for way in each_way), strict=True)
        self.peer.wait()

        def run(budget: Budget) -> dict[str, float]:
            together = Barrier(threads)

            def work(call: Call) -> Turns:
                with self.peer.on_thread() as finish:
                    return turns(call, finish, together, budget, nothing)

            with futures.ThreadPoolExecutor(threads) as pool:
                found = results([pool.submit(work, call) for call in calls], together)
            each = summary(chain.from_iterable(chain.from_iterable(found)))
            if apart:
                return each
            tail = {"p99": each["p99"], "tail": each["p99"] / each["median"]}
            return summary(times_together(found)) | tail

        return Trial(run, lambda: [check() for check in checks])

    def one_way(self, size: int, way: str) -> tuple[Call, Call]:
        """A copy `up` or `down` of memory of its own, and the check of its result."""
        device, source = self.peer.allocate(size), fresh(size)
        if way == "up":
            return self.peer.upload(device, source), lambda: self.expect(device, source)
        self.send(device, source)
        target = fresh(size)
        return self.peer.download(device, target), lambda: expect_equal(target, source)

    def small_beside_large(self, size: int, *, small: int) -> Trial:
        """A small copy, while another thread makes large ones."""
        upload, check = self.one_way(min(small, size), "up")
        large_upload, large_check = self.one_way(size, "up")
        self.peer.wait()

        def run(budget: Budget) -> dict[str, float]:
            with neighbour(self.peer, large_upload), self.peer.on_thread() as finish:
                case = Case("run(); wait()", {"run": upload, "wait": finish})
                return case.run(budget._replace(most=MANY))

        return Trial(run, lambda: [check(), large_check()])

    def in_processes(self, size: int, *, processes: int, devices: int = 1) -> Trial:
        """The time of a copy, as processes get through them together; each copies up and down.
        Devices take turns."""
        makers = [self.peer.maker]
        if devices > 1:
            self.require_devices(devices)
            makers = [self.peer.maker_on(device) for device in range(devices)]

        def run(budget: Budget) -> dict[str, float]:
            together = SPAWN.Barrier(processes)
            with futures.ProcessPoolExecutor(processes, SPAWN, begin_at, (together,)) as pool:
                # Each waits for the others, so there is one task for each process.
                each = islice(cycle(makers), processes)
                tasks = [pool.submit(up_and_down, maker, size, budget) for maker in each]
                found = results(tasks, together)
            return summary(both / 2 for both in times_together(found))

        return Trial(run, is_here=False)

    def first_up(self, size: int) -> Trial:
        """The first large copy of a process that has made a small one."""

        def took() -> float:
            with futures.ProcessPoolExecutor(1, SPAWN) as pool:
                return pool.submit(first_copy, self.peer.maker, size).result()

        return counted(took)._replace(is_here=False)
