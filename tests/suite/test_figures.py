"""Figures in the text of pages are those of `bench/results`."""

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "bench" / "results"
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]

pytestmark = pytest.mark.independent


def kept(name):
    return json.loads((RESULTS / f"{name}.json").read_text())


ROWS = {row["name"]: row for row in kept("h200")["rows"]}
ON_DASK = kept("tpch-dask-h200-x2")


def times(scale, row, *names):
    """The medians of a row in units of this many to a second."""
    return [ROWS[row]["cells"][name]["median"] * scale for name in names]


def rates(row, *names):
    """In GB/s."""
    return [ROWS[row]["size"] / each / 1e9 for each in times(1, row, *names)]


def in_ms(*cells):
    return [times(1000, row, name)[0] for row, name in cells]


def of_query(number):
    row = f"compute-query-{number}"
    return in_ms((row, "host"), (row, "ours"), (f"{row}-copied", "ours"))


def of_function(name):
    return times(1000, f"compute-{name}", "host", "ours", "pylibcudf")


def copy_times():
    """What copies add to queries."""
    return [of_query(number)[2] - of_query(number)[1] for number in (1, 6)]


def on_dask(what):
    return [ON_DASK[f"on_{workers}_ms"][what] for workers in (1, 2)]


LIBRARIES = ("ours", "cupy", "torch", "numba")
README, COMPUTE, DEVICES = "README.md", "docs/compute.md", "docs/several_gpus.md"
BY_FUNCTION = {
    "`add`": "add",
    "`sum`": "sum",
    "`cast` of int64 to double": "cast",
    "`greater`, then `filter`": "filter",
    "`take`": "take",
    "`sort_indices`": "sort",
    "`utf8_upper`": "upper",
    "`match_substring`": "match",
    "`group_by`, sum and mean": "group",
    "left semi `join`": "join",
}
#: The page, the beginning of a line with a pattern for what is before each figure, and the figures.
FIGURES = [
    (README, r"1 GiB, pageable .*GB/s", rates("up-pageable-1GiB", *LIBRARIES)),
    (README, r"1000 columns of .*GB/s", rates("batch-up-1000x100000", *LIBRARIES[:3])),
    (README, r"256 KiB, pinned.*us", times(1e6, "up-pinned-256KiB", *LIBRARIES)),
    (README, r"TPC-H query 1 of 10 million rows .*host:", of_query(1)[:2]),
    *((COMPUTE, rf"query {number} \([^)]*\)", of_query(number)) for number in (1, 6)),
    (COMPUTE, r"The copy of the seven columns takes", copy_times()),
    *((COMPUTE, re.escape(title), of_function(row)) for title, row in BY_FUNCTION.items()),
    (DEVICES, r"all 22 queries, .* next", on_dask("all")),
    (DEVICES, r"query 1, a half of `lineitem` by each worker", on_dask("q1")),
    (DEVICES, r"query 6, a half of `lineitem` by each worker", on_dask("q6")),
]
NUMBER = re.compile(r"\d+(?:\.\d+)?")
#: A line with a figure of TPC-H: its name or that of a query, and a time or a cell of a number.
OF_TPCH = re.compile(r"TPC-H|[Qq]uery \d|\d+ queries|[Qq]ueries \d")
A_FIGURE = re.compile(r"\d (?:ms|s|us)\b|\| \**\d+(?:\.\d+)?\** \||ms \(.*\d")


def lines_of(page, start):
    found = [line.removeprefix("| ") for line in (ROOT / page).read_text().splitlines()]
    return [line for line in found if re.match(start, line)]


@pytest.mark.parametrize(("page", "start", "values"), FIGURES)
def test_a_line_has_the_figures_of_the_result(page, start, values):
    (line,) = lines_of(page, start)
    figures = NUMBER.findall(line[re.match(start, line).end() :])[: len(values)]
    for figure, value in zip(figures, values, strict=True):
        digits = len(figure.partition(".")[2])
        assert float(figure) == pytest.approx(value, abs=0.501 * 10**-digits), line


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_each_figure_of_tpch_in_a_page_is_compared(page):
    name = str(page.relative_to(ROOT))
    known = {line for of, start, _ in FIGURES if of == name for line in lines_of(name, start)}
    lines = [line for line in page.read_text().splitlines() if OF_TPCH.search(line)]
    figures = [line.removeprefix("| ") for line in lines if A_FIGURE.search(line)]
    assert [line for line in figures if line not in known] == []


def test_the_result_of_tpch_is_of_a_gpu_and_whole():
    from cuda_bench import cli
    from cuda_bench.tpch.result import QUERIES, TpchResult, total

    result = cli.loaded(RESULTS / "tpch-h200.json")
    assert isinstance(result, TpchResult)
    assert result["is_finished"]
    assert not result["machine"]["is_simulated"]
    assert not result.has_failed()
    for part in result["parts"]:
        assert part["rows"].keys() >= set(QUERIES)
        assert total(part, "ours") is not None
