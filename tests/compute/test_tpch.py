"""The queries of `examples/tpch` give the same answers on a device, and none is refused there.

The benchmark measures them.
"""

import json
import runpy
import shutil
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from cuda_bench import cli, page
from cuda_bench.tpch import result as results

from . import standin

PROGRAMS = Path(__file__).parents[2] / "examples" / "tpch"
BESIDE_PYTHON = shutil.which("tpchgen-cli", path=str(Path(sys.executable).parent))
HOST = pa.default_cpu_memory_manager()
QUERIES = runpy.run_path(str(PROGRAMS / "queries.py"))["QUERIES"]
#: One number each, which pyarrow returns on the host.
NUMBERS = ("q6", "q14", "q17", "q19")

pytestmark = [
    pytest.mark.simulator,
    pytest.mark.independent,
    pytest.mark.usefixtures("queries_run"),
]
if not (BESIDE_PYTHON or shutil.which("tpchgen-cli")):
    pytestmark.append(pytest.mark.skip(reason="needs tpchgen-cli"))


def on_columns(function):
    return lambda column, *rest: standin.Column(
        function(column.value, *(it.value.as_py() for it in rest if it is not None))
    )


@pytest.fixture
def queries_run(libcudf, monkeypatch):
    """The stand-in's functions, and further ones that the queries need."""
    plc = sys.modules["pylibcudf"]
    monkeypatch.setitem(standin._BINARY, "LESS_EQUAL", pc.less_equal)

    def add(module, **functions):
        for name, function in functions.items():
            monkeypatch.setattr(module, name, function)

    find = {
        "starts_with": pc.starts_with,
        "ends_with": pc.ends_with,
        "contains": pc.match_substring,
    }
    add(plc.strings.find, **{name: on_columns(function) for name, function in find.items()})
    add(plc.strings.slice, slice_strings=on_columns(pc.utf8_slice_codeunits))
    add(
        plc.strings.contains,
        like=lambda column, pattern, _: standin.Column(pc.match_like(column.value, pattern)),
    )
    add(
        plc.datetime,
        extract_datetime_component=lambda column, _: standin.Column(pc.year(column.value)),
    )
    add(
        plc.stream_compaction,
        drop_nans=lambda table, *_: standin.Table(
            [standin.Column(it.value.filter(pc.is_finite(it.value))) for it in table.columns()]
        ),
    )


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    program = runpy.run_path(str(PROGRAMS / "data.py"))
    folder = tmp_path_factory.mktemp("tpch") / "tpch-0.01"
    program["make"](folder, 0.01)
    return program, folder


@pytest.fixture(scope="module", params=[False, True], ids=["doubles", "decimals"])
def tables(data, request):
    program, folder = data
    found = program["load"](folder, decimals=request.param)
    return found, program["to_device"](found, 0)


@pytest.mark.parametrize("name", list(QUERIES))
def test_a_query_runs_on_a_device(tables, name):
    expected, found = (QUERIES[name](place) for place in tables)
    assert found.is_cpu is (name in NUMBERS)
    assert found.schema.equals(expected.schema)
    rows, wanted = found.copy_to(HOST).to_pylist(), expected.to_pylist()
    assert len(rows) == len(wanted)
    for row, other in zip(rows, wanted, strict=True):
        assert row == {
            key: pytest.approx(value, rel=1e-9) if isinstance(value, float) else value
            for key, value in other.items()
        }


@pytest.fixture
def measured(data, tmp_path, capsys):
    """Measures with these engines; returns the status, the result and the lines."""

    def measure(*options):
        path = tmp_path / "inner" / "tpch.json"
        places = ["--scale", "0.01", "--folder", str(data[1].parent), "--json", str(path)]
        with pytest.raises(SystemExit) as ended:
            cli.main(["tpch", "--rounds", "1", "--seconds", "0.001", *places, *options])
        return ended.value.code, path, capsys.readouterr().out

    return measure


@pytest.mark.usefixtures("queries_run")
def test_the_benchmark_has_all_engines_and_queries(measured, tmp_path, capsys):
    pytest.importorskip("duckdb")
    status, path, out = measured("--peers", "ours,host,duckdb,polars")
    found = cli.loaded(path)
    assert (status, *found.failures()) == (False,)
    assert found["is_finished"]
    assert [part["values"] for part in found["parts"]] == [
        results.DOUBLES,
        results.DECIMALS,
        results.FILES,
    ]
    for part in found["parts"]:
        rows = [results.ITEMS] * (part["values"] == results.FILES) + results.QUERIES
        assert list(part["rows"]) == rows
        for name in ("ours", "host", "duckdb"):
            assert results.total(part, name) > 0
            assert results.times_as_fast(part, name, rows) > 0
        assert results.times_as_fast(part, "ours", rows) == pytest.approx(1)
    assert "scale 0.01, doubles in memory" in out
    total = results.number(results.total(found["parts"][0], "ours"))
    assert any(
        f"| scale 0.01, doubles in memory | {total} |" in each for each in page.tables(found)
    )
    pytest.importorskip("matplotlib")
    asked = cli.parser().parse_args(["images", str(path), str(tmp_path / "page")])
    assert not asked.action(asked)
    drawing = (tmp_path / "page" / "tpch-0.01.svg").read_text()
    assert all(word in drawing for word in ("ours", "DuckDB", *results.QUERIES))


@pytest.mark.usefixtures("queries_run")
def test_the_benchmark_notices_a_wrong_answer(measured, monkeypatch):
    pytest.importorskip("duckdb")
    programs = sys.modules["cuda_bench.tpch.programs"].queries
    wrong = programs.QUERIES | {"q6": programs.QUERIES["q14"]}
    monkeypatch.setattr(programs, "QUERIES", wrong)
    status, path, out = measured("--peers", "ours")
    assert status is True
    for part in json.loads(path.read_text())["parts"]:
        wrong = [row for row, cells in part["rows"].items() if "error" in cells["ours"]]
        assert wrong == ["q6"]
    assert "failed: scale 0.01, doubles in memory, q6, ours: WrongAnswer: columns" in out


def test_means_of_ratios_are_geometric():
    def part(ours, theirs):
        cells = zip(results.QUERIES, ours, theirs, strict=True)
        return {"rows": {row: {"ours": {"ms": a}, "host": {"ms": b}} for row, a, b in cells}}

    one = part([1] * 22, [4] * 11 + [9] * 11)
    assert results.times_as_fast(one, "host", results.QUERIES) == pytest.approx(6)
    assert results.total(one, "host") == 143
    del one["rows"]["q7"]["host"]
    assert results.times_as_fast(one, "host", results.QUERIES) is None
    assert results.total(one, "host") is None
