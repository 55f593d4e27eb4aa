"""The benchmark's rows under load: threads, processes, memory in use, processor time.

That these rows are measured, and that wrong results fail, is tested in test_bench.py.
"""

import threading
from concurrent.futures.process import BrokenProcessPool
from contextlib import nullcontext
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuda_bench import measure
from cuda_bench.peers import NotOffered
from cuda_bench.works import Setup, load, memory, processes, threads
from support import bench_children

pytestmark = pytest.mark.independent


def nothing():
    pass


# --- threads -----------------------------------------------------------------------------------


def test_threads_get_through_calls_together():
    # Two calls a second, and four.
    assert threads.time_together([[0.5, 0.5], [0.25]]) == pytest.approx(1 / 6)


@given(st.lists(st.floats(1e-3, 1), min_size=1), st.floats(1e-3, 5))
def test_a_thread_makes_whole_calls(durations, seconds):
    now, given_out = 0.0, []

    def call():
        nonlocal now
        given_out.append(durations[len(given_out) % len(durations)])
        now += given_out[-1]

    times = threads.times_for(call, nothing, seconds, clock=lambda: now)
    assert times == pytest.approx(given_out)
    # One call was begun before the time was over, and no other after it.
    assert sum(times) >= seconds > sum(times[:-1]) - 1e-9


THREADED = SimpleNamespace(on_thread=lambda: nullcontext(nothing))


def failing():
    raise ValueError("it is broken")


def test_a_thread_that_fails_ends_the_others():
    with pytest.raises(ValueError, match="it is broken"):
        threads.beside_each_other(THREADED, [nothing, nothing, failing], 60)


def test_a_neighbour_that_fails_is_noticed():
    with pytest.raises(ValueError, match="it is broken"), threads.neighbour(THREADED, failing):
        pass


def test_a_neighbour_is_at_work_until_the_end():
    calls, others = [], threading.active_count()
    with threads.neighbour(THREADED, lambda: calls.append(None)):
        assert calls
        assert threading.active_count() == others + 1
    assert threading.active_count() == others


# --- processes ---------------------------------------------------------------------------------


@pytest.mark.subprocesses
@pytest.mark.parametrize(
    ("work", "options"), [(processes.in_processes, {"processes": 2}), (processes.first_up, {})]
)
def test_what_a_child_copies_is_checked(work, options):
    trial = work(Setup(bench_children.Careless(), None), 4096, **options)
    with pytest.raises(measure.WrongResult, match="other bytes came back"):
        trial.run(measure.QUICK)


@pytest.mark.subprocesses
def test_a_child_that_ends_is_noticed():
    trial = processes.in_processes(Setup(bench_children.Ending(), None), 4096, processes=2)
    with pytest.raises(BrokenProcessPool):
        trial.run(measure.QUICK)


# --- memory in use -----------------------------------------------------------------------------


@given(st.integers(1, 500), st.integers(10, 30), st.integers(0, 1 << 30))
def test_steps_keep_to_the_room(count, power, more):
    largest = 1 << power
    room = largest + more
    plan = memory.planned(count, largest, room)
    assert len(plan.steps) == count
    alive, most = {}, 0
    for number, (size, place) in enumerate(plan.steps):
        if size:
            assert memory.SMALLEST <= size <= largest
            alive[number] = size
        else:
            names = list(alive)
            last = alive.pop(names[-1])
            if place < len(names) - 1:
                alive[names[place]] = last
        most = max(most, sum(alive.values()))
    assert plan.left == list(alive.values())
    assert plan.most == most <= room
    assert memory.planned(count, largest, room) == plan


def test_the_steps_are_done():
    plan = memory.planned(400, 1 << 20, 1 << 22)
    assert 0 < len(plan.left) < 400
    calls = [((lambda size=size: size) if size else None, place) for size, place in plan.steps]
    buffers = []
    memory.go(calls, buffers)
    assert buffers == plan.left


class Twice:
    """A peer whose memory is a number; it reserves twice what it has needed so far."""

    def __init__(self):
        self.used = self.most = 0

    def allocator(self, size):
        return lambda: Taken(self, size)

    def change(self, size):
        self.used += size
        self.most = max(self.most, self.used)

    def reserved(self):
        return 100 + 2 * self.most

    def trim(self):
        self.most = self.used


class Taken:
    def __init__(self, peer, size):
        self.peer, self.size = peer, size
        peer.change(size)

    def __del__(self):
        self.peer.change(-self.size)


def test_what_is_reserved_is_compared_with_what_is_in_use():
    trial = memory.random_reserved(with_free(8 << 20), 1 << 20, alive=4)
    summary = trial.run(measure.QUICK)
    assert summary.low == summary.high == 2
    assert summary.count == measure.QUICK.least


def with_free(size):
    driver = SimpleNamespace(free_memory=lambda: size)
    return Setup(Twice(), SimpleNamespace(driver=driver))


def test_a_device_with_too_little_memory_is_left_out():
    with pytest.raises(NotOffered, match="too little memory"):
        memory.random_reserved(with_free((8 << 20) - 1), 1 << 20, alive=4)


def test_what_small_buffers_take_is_what_the_device_lacks():
    peer = Twice()
    driver = SimpleNamespace(free_memory=lambda: 10**9 - peer.reserved())
    setup = Setup(peer, SimpleNamespace(driver=driver))
    summary = memory.small_buffers(setup, 1000 << 10, count=1000).run(measure.QUICK)
    assert summary.low == summary.high == 2 * 1000 << 10


# --- processors --------------------------------------------------------------------------------


def test_what_copies_take_of_the_processors():
    found = load.Spent(calls=4, seconds=2.0, processor_seconds=6.0)
    assert found.cores == 3
    assert found.a_gigabyte(10**9) == 1.5
    assert found.a_gigabyte(10**6) == 1500
