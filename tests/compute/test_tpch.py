"""The queries of `examples/tpch` give the same answers on a device, and none is refused there."""

import runpy
import shutil
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest

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
    folder = tmp_path_factory.mktemp("tpch") / "tables"
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
