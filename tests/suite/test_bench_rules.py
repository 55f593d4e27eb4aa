"""The benchmark's rows, goals, summaries of times, and units."""

import gc
import statistics
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cuda_bench import cli, goals, measure, rows, units
from cuda_bench.limits import LIMITS
from cuda_bench.works import WORKS

BENCH = Path(__file__).resolve().parents[2] / "bench"

pytestmark = pytest.mark.independent

TIMES = st.lists(st.floats(1e-9, 1e3), min_size=1, max_size=50)


# --- rows --------------------------------------------------------------------------------------


def test_rows_are_told_apart():
    for key in (lambda row: row.name, lambda row: (row.part, row.title)):
        seen = [key(row) for row in rows.ROWS]
        assert len(seen) == len(set(seen))


def test_rows_refer_to_works_units_and_limits():
    for row in rows.ROWS:
        assert row.work in WORKS
        assert not row.limit or row.limit in LIMITS
        # A count is not a rate.
        assert not row.counts or (row.counts in units.COUNTED and not row.as_rate)


def test_rows_are_chosen_by_name_pattern_and_part():
    assert [row.name for row in rows.chosen(["slice", "up-pinned-*"])][-1] == "slice"
    assert {row.part for row in rows.chosen(["sweep"])} == {"sweep"}
    assert rows.chosen(["limits"]) == []
    assert len(rows.chosen(["table", "up-*"])) == len(rows.chosen(["table"]))


@given(st.floats(1e-9, 1e3), st.integers(1, 1 << 40), st.floats(1e-3, 1e15))
def test_a_goal_is_met_from_its_value_on(value, size, rate):
    assert goals.Goal(at_most=value).is_met(value * 1.0002, size)
    assert not goals.Goal(at_most=value).is_met(value * 1.001, size)
    goal = goals.Goal(at_least=rate)
    assert goal.is_met(size / rate * 0.999, size)
    assert not goal.is_met(size / rate * 1.001, size)


@given(st.floats(1e-9, 1e3))
def test_a_goal_can_be_of_the_slowest_calls_too(value):
    for goal in (goals.Goal(at_most=1, p99=value), goals.Goal(at_least=1, p99=value)):
        assert goal.is_met(1, 1, value)
        assert not goal.is_met(1, 1, value * 1.001)
        assert goals.judged(row_of(1, value, goal))["met"]
        assert not goals.judged(row_of(1, value * 1.001, goal))["met"]
        del (unknown := row_of(1, value, goal))["cells"]["ours"]["p99"]
        assert not goals.judged(unknown)["met"]


def row_of(median, p99, goal):
    cells = {"ours": {"median": median, "p99": p99}}
    return {"cells": cells, "size": 1, "wanted_size": 1, "goal": goal.as_dict()}


# Whole nanoseconds: what differs by a rounding error only counts as met.
WHOLE = st.integers(1, 10**9).map(lambda nanoseconds: nanoseconds / 1e9)


@given(st.dictionaries(st.sampled_from(["ours", "cupy", "torch", "numba"]), WHOLE), WHOLE)
def test_a_row_is_compared_with_the_best_of_the_others(medians, goal):
    cells = {name: {"median": median} for name, median in medians.items()}
    row = {"cells": cells, "size": 1, "wanted_size": 1}
    row |= {"goal": {"at_most": goal, "at_least": None}}
    found = goals.judged(row)
    others = [median for name, median in medians.items() if name != "ours"]
    assert (found["best_peer"] is None) == (not others)
    if others and "ours" in medians:
        assert found["ratio"] == min(others) / medians["ours"]
    assert found["met"] == (medians["ours"] <= goal if "ours" in medians else None)
    assert goals.judged(row, is_simulated=True)["met"] is None


# --- times -------------------------------------------------------------------------------------


@given(TIMES, st.randoms(use_true_random=False))
def test_a_summary_is_of_the_times_in_any_order(times, random):
    summary = measure.Summary.of(times)
    assert summary.median == pytest.approx(statistics.median(times))
    assert summary.best == min(times) <= summary.low <= summary.median <= summary.high
    assert summary.high <= summary.p99 <= max(times)
    assert summary.count == len(times)
    shuffled = random.sample(times, len(times))
    assert measure.Summary.of(shuffled) == summary


class Clock:
    """Time that passes by work alone."""

    def __init__(self):
        self.now, self.calls = 0.0, 0

    def __call__(self):
        return self.now

    def work(self, seconds):
        self.calls += 1
        self.now += seconds


@given(st.floats(1e-4, 10), st.integers(1, 20), st.integers(20, 100), st.integers(0, 5))
def test_a_measurement_keeps_to_its_budget(seconds, least, most, warm_ups):
    clock = Clock()
    case = measure.Case.waited(lambda: clock.work(seconds / 2), lambda: clock.work(seconds / 2))
    budget = measure.Budget(seconds=1.0, warm_ups=warm_ups, least=least, most=most)
    summary = measure.measure(case, budget, clock)
    assert summary.median == pytest.approx(seconds)
    assert least <= summary.count <= most
    # Nothing is begun behind its end, but for what is needed at least.
    assert summary.count <= max(least, 1.0 / seconds + 1.001)
    assert clock.calls <= 2 * (summary.count + warm_ups)


def test_short_calls_are_timed_together():
    clock = Clock()
    case = measure.Case.plain(lambda: clock.work(1e-6))
    summary = measure.measure(case, measure.QUICK, clock)
    assert summary.loops * 1e-6 >= measure.READABLE
    assert summary.median == pytest.approx(1e-6)


def test_what_comes_before_a_call_is_not_timed():
    clock = Clock()
    case = measure.Case.waited(lambda: clock.work(1), lambda: clock.work(2))
    case = replace(case, before=lambda: clock.work(100))
    summary = measure.measure(case, measure.QUICK, clock)
    assert (summary.best, summary.median, summary.p99) == (3, 3, 3)
    assert clock.calls == 3 * (summary.count + measure.QUICK.warm_ups)


def test_a_trial_takes_its_own_values():
    def run(budget):
        assert not gc.isenabled()
        return measure.Summary.of([budget.seconds])

    assert measure.measure(measure.Trial(run), measure.FULL).median == measure.FULL.seconds
    assert gc.isenabled()


# --- units -------------------------------------------------------------------------------------


@given(st.integers(0, 1 << 50))
def test_sizes_are_read_as_they_are_written(size):
    assert units.size_of(units.size_text(size)) == size
    assert units.size_of(str(size)) == size


@given(st.floats(1e-9, 1e4))
def test_times_keep_three_digits(seconds):
    value, unit = units.time_text(seconds).split()
    assert float(value) * {"us": 1e-6, "ms": 1e-3, "s": 1}[unit] == pytest.approx(
        seconds, rel=0.006, abs=6e-9
    )


# --- what is kept ------------------------------------------------------------------------------


# Rows that are newer than the results: the next ones to be kept have them.
NOT_KEPT_YET: set[str] = set()


@pytest.mark.parametrize(
    "path", sorted((BENCH / "results").glob("*.json")), ids=lambda path: path.stem
)
def test_a_kept_result_is_of_these_rows(path):
    result = cli.loaded(path)
    assert result["is_finished"]
    assert not result["machine"]["is_simulated"]
    kept = [row for row in rows.ROWS if row.name not in NOT_KEPT_YET]
    assert [row["name"] for row in result["rows"]] == [row.name for row in kept]
    for row, now in zip(result["rows"], kept, strict=True):
        ours = row["cells"]["ours"]
        # One of a machine with one device lacks the copies between two.
        is_lacking = row["name"].startswith("devices-") and ours == {"not_offered": "one device"}
        assert "median" in ours or is_lacking, row["name"]
        assert goals.judged(row) == row
        # A goal that changes takes a new result with it.
        goal = now.goal and pytest.approx(now.goal.as_dict())
        assert row["goal"] == goal, row["name"]
