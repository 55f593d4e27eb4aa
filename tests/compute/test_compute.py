"""pyarrow's functions on device data: what goes to libcudf, for which pylibcudf stands in."""

import importlib.metadata
import json
import sys
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from pyarrow import cuda
from pyarrow.cuda import CudaBuffer

import pyarrow_cuda_compat
from pyarrow_cuda_compat._compute import engine

from . import standin
from .answers import digest_of
from .arguments import METHODS

pytestmark = [pytest.mark.simulator, pytest.mark.usefixtures("libcudf")]
HOST = pa.default_cpu_memory_manager()


@pytest.fixture(scope="module")
def rows():
    before = sys.modules.get("pylibcudf")
    yield standin.install()
    for name in [name for name in sys.modules if name.startswith("pyarrow_cuda_compat._compute.")]:
        if name != engine.__name__:
            del sys.modules[name]
    sys.modules.pop("pylibcudf")
    if before is not None:
        sys.modules["pylibcudf"] = before


@pytest.fixture
def libcudf(rows, monkeypatch):
    monkeypatch.setattr(engine, "_rows", rows)
    monkeypatch.setattr(engine, "share_memory", lambda device: None)
    standin.CALLS.clear()
    return standin.CALLS


@pytest.fixture(scope="module")
def there():
    """Copies to the device."""
    context = cuda.Context(0)
    return lambda data: data.copy_to(context)


def back(data):
    return data.copy_to(HOST)


def test_a_function_stays_on_the_device(there, libcudf):
    result = pc.add(there(pa.array([1, None, 3])), 2)
    assert not result.is_cpu
    assert back(result).equals(pa.array([3, None, 5]))
    assert "ADD" in libcudf


def test_an_aggregate_is_a_scalar_on_the_host(there):
    array = there(pa.array([1, 2, None], pa.int32()))
    assert pc.sum(array).equals(pa.scalar(3, pa.int64()))
    assert array.sum(skip_nulls=False).equals(pa.scalar(None, pa.int64()))
    assert pc.sum(array, min_count=3).as_py() is None


def test_chunks_stay_chunks(there):
    chunks = there(pa.chunked_array([[1], [], [2, 3]]))
    assert isinstance(pc.add(chunks, chunks), pa.ChunkedArray)
    assert back(pc.add(chunks, chunks)).to_pylist() == [2, 4, 6]


def test_host_data_is_moved_to_the_device(there):
    result = pc.add(pa.array([1, 2]), there(pa.array([3, 4])))
    assert not result.is_cpu
    assert back(result).to_pylist() == [4, 6]


def test_data_of_a_device_stays_there(there, other_ctx):
    array = pa.array([1, 2]).copy_to(other_ctx)
    result = pc.add(array, 1)
    assert CudaBuffer.from_buffer(result.buffers()[1]).context == other_ctx
    assert back(result).to_pylist() == [2, 3]
    table = pa.table({"a": array, "b": there(pa.array([3, 4]))})
    for call in (
        lambda: pc.add(array, there(pa.array([3, 4]))),
        lambda: table.filter(pc.field("a") > 1),
    ):
        with pytest.raises(NotImplementedError, match="lie on several devices"):
            call()


def test_contexts_that_are_not_primary_are_refused(driver):
    handle = driver.create_context()
    try:
        buffer = cuda.Context(0, handle).buffer_from_data(bytes(16))
        array = pa.Array.from_buffers(pa.int64(), 2, [None, buffer])
        with pytest.raises(NotImplementedError, match="primary context of a device"):
            pc.add(array, 1)
        del array, buffer
    finally:
        driver.destroy_context(handle)


def test_no_rows(there, libcudf):
    assert pc.add(there(pa.array([], pa.int8())), 1).type == pa.int64()
    assert pc.sum(there(pa.array([], pa.int8()))).as_py() is None
    assert libcudf == []


def test_types_of_results_are_pyarrows(there):
    one, other = pa.array([1], pa.int8()), pa.array([2], pa.int32())
    assert pc.add(there(one), there(other)).type == pc.add(one, other).type


def test_overflow(there):
    array = there(pa.array([127], pa.int8()))
    with pytest.raises(pa.ArrowInvalid, match="overflow"):
        pc.add_checked(array, pa.scalar(1, pa.int8()))


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (lambda it: pc.winsorize(it, 0.1, 0.9), "libcudf has no such function"),
        (lambda it: pc.sum(it.cast(pa.decimal128(5))), "not from int64"),
        (lambda it: pc.cumulative_sum(it, start=3), "not with a start"),
        (lambda it: pc.rank(it), "libcudf refuses this call: CUDF failure"),
    ],
)
def test_what_is_not_covered_is_refused(there, call, reason):
    with pytest.raises(NotImplementedError, match="Implemented only for data on CPU") as error:
        call(there(pa.array([1, 2])))
    assert reason in str(error.value)


def test_wrong_types_and_lengths(there):
    array = there(pa.array([1, 2]))
    with pytest.raises(pa.ArrowInvalid, match="same length"):
        pc.add(array, array.slice(1))
    with pytest.raises(NotImplementedError, match="not with arguments of type string"):
        pc.add(array, "a")


def test_no_memory(there, monkeypatch):
    monkeypatch.setattr(standin, "FAILURE", partial(MemoryError, "std::bad_alloc"))
    with pytest.raises(pyarrow_cuda_compat.OutOfMemoryError, match="bad_alloc"):
        pc.rank(there(pa.array([1, 2])))


def test_filters(there):
    table = pa.table({"a": [1, 2, None], "b": ["x", "y", "z"]})
    for filtered in (
        there(table).filter(pc.field("a") > 1),
        there(table).filter(there(pa.array([False, True, None]))),
    ):
        assert isinstance(filtered, pa.Table)
        assert back(filtered).equals(table.slice(1, 1))
    batch = table.to_batches()[0]
    assert back(there(batch).filter((pc.field("a") < 2) & (pc.field("b") == "x"))).num_rows == 1
    with pytest.raises(pa.ArrowInvalid, match="No match for FieldRef"):
        there(table).filter(pc.field("c") > 1)


def test_methods_check_what_they_do_not_call_functions_for(there):
    array = there(pa.array([1, 2]))
    with pytest.raises(NotImplementedError):
        array.to_pylist()
    assert array.sum().as_py() == 3
    with pytest.raises(NotImplementedError):
        array.to_pylist()


def test_engines(there, monkeypatch):
    array = there(pa.array([1, 2]))
    try:
        pyarrow_cuda_compat.set_compute_engine("none")
        with pytest.raises(NotImplementedError, match="is set to 'none'"):
            pc.sum(array)
    finally:
        pyarrow_cuda_compat.set_compute_engine(None)
    with pytest.raises(ValueError, match="'cudf', 'none' or None, not 'acero'"):
        pyarrow_cuda_compat.set_compute_engine("acero")
    monkeypatch.setenv("PYARROW_CUDA_COMPUTE_ENGINE", "none")
    assert engine.described().startswith("none: ")


@pytest.mark.parametrize(
    ("version", "reason"), [(None, "install pylibcudf-cu12 or"), ("25.4.0", "answers are known of")]
)
def test_why_there_is_none(there, monkeypatch, version, reason):
    def installed(name):
        if version is None or name != "pylibcudf-cu13":
            raise importlib.metadata.PackageNotFoundError(name)
        return version

    monkeypatch.delenv("PYARROW_CUDA_COMPUTE_ENGINE")
    monkeypatch.setattr(importlib.metadata, "version", installed)
    monkeypatch.setattr(engine, "_rows", None)
    with pytest.raises(NotImplementedError, match=reason):
        pc.sum(there(pa.array([1])))


KEPT = Path(__file__).parents[2] / "conformance/results/compute.json"


def test_each_row_was_compared_with_pyarrow_on_a_gpu(rows):
    """`python -m compute.answers --json` on a GPU writes the file anew after a change of a row."""
    kept = json.loads(KEPT.read_text())["rows"]
    assert {*rows.ROWS, *METHODS} == set(kept)
    changed = {name for name, row in rows.ROWS.items() if kept[name]["digest"] != digest_of(row)}
    assert not changed
    # A run gives each row a share of its time; most reach what was asked for.
    assert min(it["same"] for it in kept.values()) >= 400
    assert sum(it["same"] >= 1000 for it in kept.values()) >= 150
