"""The benchmark's goals, times and units, and how it measures threads, processes and memory."""

from concurrent.futures import ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import nullcontext
from dataclasses import replace
from itertools import product
from threading import Barrier
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuda_bench import rows, table
from cuda_bench.fresh import in_fresh_process
from cuda_bench.machine import Driver
from cuda_bench.measure import QUICK, Budget, Case, WrongResult, nothing, repeated, summary
from cuda_bench.peers import NotOffered
from cuda_bench.space import Space
from cuda_bench.works import Works, memory, together
from support import faulty_peers

pytestmark = pytest.mark.independent


@given(st.floats(1e-9, 1e3), st.integers(1, 1 << 40), st.floats(1e-3, 1e15))
def test_a_goal_is_met_from_its_value_on(value, size, rate):
    for factor, wanted in ((1.0002, True), (1.001, False)):
        assert rows.is_met({"at_most": value}, {"median": value * factor}, size) is wanted
        assert rows.is_met({"at_least": rate}, {"median": size / rate * factor}, size) is wanted
        for latest, other in product(rows.LATEST, ({}, {"at_most": 1}, {"at_least": 1})):
            cell = {"median": 1, latest: value * factor}
            assert rows.is_met({latest: value} | other, cell, 1) is wanted


def test_a_row_is_compared_with_its_goal_and_the_best_of_the_others():
    def judged(is_simulated=False, size=1, p99=None, **medians):
        cells = {name: {"median": median} for name, median in medians.items()}
        row = {"cells": cells, "size": size, "wanted_size": 1, "goal": {"at_most": 2, "p99": p99}}
        found = rows.judged(row, is_simulated=is_simulated)
        return found["best_peer"], found["ratio"], found["met"]

    assert judged(cupy=3, ours=2, torch=1, numba=4) == ("torch", 0.5, True)
    assert judged(ours=2.1) == (None, None, False)
    assert judged(torch=1) == ("torch", None, None)
    assert judged(ours=1, is_simulated=True) == judged(ours=1, size=2) == (None, None, None)
    # How long the slowest calls take is not known.
    assert judged(ours=1, p99=9) == (None, None, False)


@given(st.lists(st.integers(0, 100), min_size=101, max_size=101), st.integers(1, 99))
def test_a_summary_is_of_the_values_in_any_order(values, loops):
    parts = {"best": 0, "low": 10, "median": 50, "high": 90, "p99": 99}
    wanted = {name: pytest.approx(sorted(values)[at]) for name, at in parts.items()}
    assert summary(values, loops) == wanted | {"count": 101, "loops": loops}


class Clock:
    """Time that passes by calls alone, a given number of seconds each."""

    def __init__(self, seconds=0.25):
        self.calls, self.seconds = 0, seconds

    def __call__(self):
        return self.calls * self.seconds

    def work(self):
        self.calls += 1


@given(st.floats(1e-4, 10), st.integers(1, 20), st.integers(20, 100), st.integers(0, 5))
def test_a_measurement_keeps_to_its_budget(seconds, least, most, warm_ups):
    clock, unseen = Clock(seconds), Clock()
    budget = Budget(seconds=1.0, warm_ups=warm_ups, least=least, most=most)
    found = Case("run()", {"run": clock.work}, before=unseen.work).run(budget, clock)
    assert found["median"] == pytest.approx(seconds)
    # Nothing is begun behind its end, but for what is needed at least.
    assert least <= found["count"] <= max(least, min(most, 1 / seconds + 1.001))
    # `before` runs each time, and is not timed.
    assert clock.calls == unseen.calls == found["count"] + warm_ups


def test_short_calls_are_timed_together():
    clock = Clock(1e-6)
    found = repeated(clock.work).run(QUICK, clock)
    assert (found["loops"], found["median"]) == (64, pytest.approx(1e-6))


@given(st.integers(0, 1 << 50), st.floats(1e-9, 1e4))
def test_sizes_and_times_are_read_as_they_are_written(size, seconds):
    assert table.size_of(table.size_text(size)) == table.size_of(str(size)) == size
    value, unit = table.scaled(seconds, table.TIMES).split()
    assert float(value) * table.TIMES[unit] == pytest.approx(seconds, rel=0.006, abs=6e-9)


def test_threads_get_through_whole_calls_in_turns(monkeypatch):
    clock, checked = Clock(), []
    monkeypatch.setattr(together, "time", SimpleNamespace(perf_counter=clock))
    budget, check = QUICK._replace(seconds=0.6, least=2), lambda: checked.append(clock())
    turns = together.turns(clock.work, nothing, Barrier(1), budget, check)
    assert turns == [[0.25] * 3] * 2
    assert checked == [1.0, 1.75]
    # Four calls a second, and two.
    assert together.times_together([turns, [[0.5], [0.5]]]) == [pytest.approx(1 / 6)] * 2


def test_a_thread_that_fails_is_noticed_and_ends_the_others():
    fails, barrier = [].pop, Barrier(2, timeout=60)
    with ThreadPoolExecutor(2) as pool:
        more = (nothing, barrier, QUICK, nothing)
        tasks = [pool.submit(together.turns, call, *more) for call in (nothing, fails)]
        with pytest.raises(IndexError):
            together.results(tasks, barrier)
        assert barrier.broken
    peer = SimpleNamespace(on_thread=lambda: nullcontext(nothing))
    with pytest.raises(IndexError), together.neighbour(peer, fails):
        pass


@pytest.mark.subprocesses
def test_what_other_processes_copy_is_checked():
    works = Works(faulty_peers.Careless(), None)
    for trial in (works.in_processes(4096, processes=1), works.first_up(4096)):
        with pytest.raises(WrongResult):
            trial.run(QUICK)
    ending = Works(faulty_peers.Ending(), None)
    with pytest.raises(BrokenProcessPool):
        ending.in_processes(4096, processes=2).run(QUICK)


@given(st.integers(1, 500), st.integers(10, 30), st.integers(0, 1 << 30))
def test_steps_keep_to_the_room(count, power, more):
    largest = 1 << power
    plan, most = found = memory.planned(count, largest, largest + more)
    assert found == memory.planned(count, largest, largest + more)
    assert len(plan) == count
    alive, used = {}, [0]
    for number, size in plan:
        # A buffer is released once, after it was allocated.
        used.append(used[-1] + (size or -alive.pop(number)))
        alive |= {number: size} if size else {}
        assert not size or memory.SMALLEST <= size <= largest
    assert max(used) == most <= largest + more


def test_memory_that_is_taken_is_compared_with_memory_in_use(monkeypatch):
    monkeypatch.setattr(memory, "planned", lambda *_: ([(0, 100), (1, 300), (0, 0)], 400))
    monkeypatch.setattr(memory, "OFTEN", 1)
    reserved, free = iter([0, 100, 300, 900, 800, 0]), iter([800, 9000, 5000, 799])
    peer = SimpleNamespace(allocate=lambda _: None, reserved=reserved.__next__, trim=nothing)
    driver = SimpleNamespace(free_memory=free.__next__)
    works = Works(peer, SimpleNamespace(driver=driver), QUICK._replace(least=1))
    assert works.random_sizes(100, alive=4, reserved=True).run(works.budget)["median"] == 2
    assert works.small_buffers(1000, count=10).run(works.budget)["median"] == 4000
    with pytest.raises(NotOffered, match="too little memory"):
        works.random_sizes(100, alive=4)


@pytest.mark.subprocesses
def test_a_row_can_have_a_process_of_its_own(monkeypatch):
    """Of its own even if this one cannot measure it."""
    (row,) = rows.chosen(["threads-fresh-small-first"])
    monkeypatch.setattr(Works, row.work, None)
    found = in_fresh_process(row, "ours", 4096, QUICK)
    assert found["count"] == QUICK.least
    assert min(found["median"], found["tail"], found["cores"]) > 0
    with pytest.raises(TypeError, match="nonsense"):
        in_fresh_process(replace(row, options={"nonsense": 1}), "ours", 4096, QUICK)


def test_of_crowds_the_times_are_those_of_one_call_or_of_all(monkeypatch):
    monkeypatch.setattr(together, "results", lambda *_: [[[1.0, 1.0, 1.0, 3.0]], [[2.0] * 3]])
    works = Works(faulty_peers.Careless(), Space(Driver(), 8192))
    for apart, wanted in ((True, (2, 2.94, None)), (False, (6 / 7, 2.94, 1.47))):
        found = works.in_threads(8, threads=2, ways="up", apart=apart).run(QUICK)
        assert (found["median"], found["p99"], found.get("tail")) == pytest.approx(wanted)
