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
LIMITS = kept("h200")["limits"]
ON_DASK = kept("tpch-dask-h200-x2")
TPCH = kept("tpch-h200")["parts"]


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


def of_tpch(scale, values, *names):
    """Of all 22 queries, in ms."""
    (part,) = (it for it in TPCH if (it["scale"], it["values"]) == (scale, values))
    queries = [row for name, row in part["rows"].items() if name.startswith("q")]
    return [sum(row[name]["ms"] for row in queries) for name in names]


def on_dask(what):
    return [ON_DASK[f"on_{workers}_ms"][what] for workers in (1, 2)]


def of(row, *names):
    """In microseconds."""
    return times(1e6, row, *names)


def of_limit(row):
    """In microseconds or GB/s, as the row."""
    found = ROWS[row]
    limit = LIMITS[found["limit"]]
    return limit["size"] / limit["median"] / 1e9 if found["as_rate"] else limit["median"] * 1e6


def of_small_calls():
    """The shortest and the longest call of 1,000 rows, in ms."""
    found = [times(1000, row, "ours")[0] for row in ROWS if re.match("compute-.*-1000$", row)]
    return [min(found), max(found)]


def of_slow_calls(*names):
    """What one call in a hundred of 8 threads takes, in ms."""
    cells = ROWS["threads-both-4KiB"]["cells"]
    return [cells[name]["p99"] * 1000 for name in names]


LIBRARIES = ("ours", "cupy", "torch", "numba")
README, COMPUTE, DEVICES = "README.md", "docs/compute.md", "docs/several_gpus.md"
PERFORMANCE = "docs/performance.md"
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
#: Of "How close it is to the limits": the row, the figures, and the limit.
BESIDE_LIMITS = [
    ("4 KiB up", of("up-pageable-4KiB", "ours", "cupy"), of_limit("up-pageable-4KiB")),
    ("4 KiB up, into new memory: the call alone", of("up-unseen-4KiB", "ours", "cupy")),
    ("256 KiB up, pinned", of("up-pinned-256KiB", "ours", "torch"), of_limit("up-pinned-256KiB")),
    ("1 MiB up", of("up-pageable-1MiB", "ours", "torch"), of_limit("up-pageable-1MiB")),
    ("1 MiB up after a pause of 2 ms", of("up-pause-1MiB", "ours", "cupy")),
    ("queueing 4 KiB, one of 10,000 copies", of("stream-queue-10000", "ours", "cupy")),
    ("queueing 4 KiB beside 512 busy streams", of("stream-busy-512", "ours", "cupy")),
    ("reading a batch of 256 columns", of("read-256x100", "ours"), of_limit("read-256x100")),
    (
        "8 threads that copy 4 KiB up and down, one call",
        of("threads-both-4KiB", "ours", "torch", "cupy"),
    ),
    (
        "1000 columns of 100,000 doubles, up",
        rates("batch-up-1000x100000", "ours", "cupy"),
        of_limit("batch-up-1000x100000"),
    ),
    (
        "the same columns, down",
        rates("batch-down-1000x100000", "ours", "torch"),
        of_limit("batch-down-1000x100000"),
    ),
    (
        "`buffers_from_data`: 1000 buffers of 4 KiB",
        rates("buffers-1000x4KiB", "ours", "torch"),
        of_limit("buffers-1000x4KiB"),
    ),
    (
        "`buffers_from_data`: 1000 buffers of 64 KiB",
        rates("buffers-1000x64KiB", "ours", "torch"),
        of_limit("buffers-1000x64KiB"),
    ),
    (
        "`buffers_from_data`: 1000 buffers of 1 MiB",
        rates("buffers-1000x1MiB", "ours"),
        of_limit("buffers-1000x1MiB"),
    ),
    ("8 processes that copy 64 MiB up and down", rates("processes-64MiB", "ours", "cupy")),
    ("the first 100 MiB of a process, up", rates("first-up-100MiB", "ours", "cupy")),
    (
        "1 GiB down, results kept",
        rates("down-kept-1GiB", "ours", "numba"),
        of_limit("down-kept-1GiB"),
    ),
    (
        "a file of 1 GiB in the page cache, to a new buffer",
        rates("file-new-1GiB", "ours"),
        of_limit("file-new-1GiB"),
    ),
    ("the same file past the page cache", rates("file-direct-1GiB", "ours")),
    (
        "the same file, read and written 64 KiB at a time",
        rates("file-parts-64KiB", "ours"),
    ),
    *(
        (title, [*of("random-sizes", name), *times(1, "random-reserved", name)])
        for title, name in {"this package": "ours", "CuPy": "cupy", "PyTorch": "torch"}.items()
    ),
]
#: The page, the beginning of a line with a pattern for what is before each figure, and the figures.
FIGURES = [
    (README, r"1 GiB, pageable .*GB/s", rates("up-pageable-1GiB", *LIBRARIES)),
    (README, r"1000 columns of .*GB/s", rates("batch-up-1000x100000", *LIBRARIES[:3])),
    (README, r"256 KiB, pinned.*us", times(1e6, "up-pinned-256KiB", *LIBRARIES)),
    (
        README,
        r"22 queries of TPC-H, scale factor 10.*host:",
        of_tpch(10, "decimals in memory", "host", "duckdb", "ours"),
    ),
    *((COMPUTE, rf"query {number} \([^)]*\)", of_query(number)) for number in (1, 6)),
    (COMPUTE, r"The copy of the seven columns takes", copy_times()),
    *((COMPUTE, re.escape(title), of_function(row)) for title, row in BY_FUNCTION.items()),
    *(
        (PERFORMANCE, rf"{re.escape(title)} \|", [*found, *limits])
        for title, found, *limits in BESIDE_LIMITS
    ),
    (PERFORMANCE, r"\* \*\*8 threads\*\*: .* a hundred took", of_slow_calls("ours", "cupy")),
    (COMPUTE, r".* A call on the device takes", of_small_calls()),
    (DEVICES, r"all 22 queries, .* next", on_dask("all")),
    (DEVICES, r"query 1, a half of `lineitem` by each worker", on_dask("q1")),
    (DEVICES, r"query 6, a half of `lineitem` by each worker", on_dask("q6")),
]
NUMBER = re.compile(r"\d+(?:\.\d+)?")
#: A line with a time, a rate, or a cell that is a number.
A_FIGURE = re.compile(r"\d (?:ms|s|us|GB/s)\b|\| \**\d+(?:\.\d+)?\** \||ms \(.*\d")
#: Rendered from results, as other tests check; or no figures of speed.
WITHOUT = ("measurements", "conformance", "differences", "functions", "reliability", "environment")
#: Sections whose figures no saved result has, with how the page says where they are from.
MEASURED_ONCE = {
    ("distributed", "Dask"): "nearly all of the 12 ms",
    ("guide", "pyarrow's functions on device data"): "measured on 2 cores, idle",
    ("performance", "Get the best speed"): "(H100)",
    ("performance", "Copies of pageable memory"): "less than 0.1 ms before",
    ("performance", "Files"): "on an H100 with 16 cores",
    ("performance", "Readers"): "on an H100 with 16 cores",
    ("performance", "Other measurements"): "were measured once each",
    ("performance", "Large machines, by calculation"): "nobody has measured it yet",
    ("performance", "Experiments"): "from the time of the experiment",
}
#: Times that are facts of the program or of a test.
FACTS = (
    "Ctrl-C ends a wait for the device within about 50 ms",
    "with kernels that read for 100 ms",
    "Dask takes about 10 ms for each task",
)


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


def sections(text):
    """The lines of a page, without code, each with the headings that it is under."""
    headings, is_code = [], False
    for line in text.splitlines():
        is_code ^= line.startswith("```")
        if not is_code and (found := re.match("(#+) (.*)", line)):
            headings[len(found[1]) - 1 :] = [found[2]]
        if not is_code:
            yield headings[:], line


def is_measured_once(page, headings):
    return any((page.stem, heading) in MEASURED_ONCE for heading in headings)


@pytest.mark.parametrize(
    "page", [it for it in PAGES if it.stem not in WITHOUT], ids=lambda it: it.stem
)
def test_each_figure_in_a_page_is_compared(page):
    name = str(page.relative_to(ROOT))
    known = {line for of, start, _ in FIGURES if of == name for line in lines_of(name, start)}
    unknown = [
        line
        for headings, line in sections(page.read_text())
        if A_FIGURE.search(line)
        and line.removeprefix("| ") not in known
        and not is_measured_once(page, headings)
        and not any(fact in line for fact in FACTS)
    ]
    assert unknown == []


@pytest.mark.parametrize(("place", "words"), MEASURED_ONCE.items(), ids=str)
def test_a_section_says_where_its_figures_are_from(place, words):
    page, heading = place
    text = (ROOT / "docs" / f"{page}.md").read_text()
    lines = [line for headings, line in sections(text) if heading in headings]
    assert words in " ".join(lines)
    assert any(map(A_FIGURE.search, lines))


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


def test_the_page_of_measurements_has_the_saved_results():
    from cuda_bench import cli
    from cuda_bench.page import filled

    page = ROOT / "docs" / "measurements.md"
    text = filled(page, lambda name: cli.loaded(RESULTS / f"{name}.json"))
    # `python bench page docs/measurements.md bench/results` writes it.
    assert page.read_text() == text
