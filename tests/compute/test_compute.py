"""pyarrow's functions on device data: what goes to libcudf, for which pylibcudf stands in."""

import importlib.metadata
import json
import operator
import sys
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import ModuleType

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from pyarrow import cuda
from pyarrow.cuda import CudaBuffer

import pyarrow_cuda_compat
from pyarrow_cuda_compat import _native
from pyarrow_cuda_compat._cudf import conversions, engine, rmm_resource
from pyarrow_cuda_compat._patches.guards.table import METHOD, TABLE
from support.threads import in_thread

from .answers import digest_of
from .arguments import METHODS
from .conftest import back, set_resource

pytestmark = [pytest.mark.simulator, pytest.mark.usefixtures("libcudf")]


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


def test_results_are_the_memory_of_libcudf(there, libcudf):
    words = there(pa.array(["skipped", "ab", None, "c"]).slice(1))
    result = pc.utf8_upper(words)
    assert back(result).equals(pa.array(["AB", None, "C"]))
    assert not result.buffers()[2].is_mutable
    assert back(pc.add(there(pa.array([1, None])), 1)).to_pylist() == [2, None]
    assert "export" not in libcudf
    assert back(pc.is_null(words)).to_pylist() == [False, True, False]
    assert "export" in libcudf  # booleans are in bytes there


def test_views_of_tables_are_kept(there, libcudf):
    context = cuda.Context(0)
    data = context.buffer_from_data(np.arange(4))
    values = pa.Array.from_buffers(pa.int64(), 3, [None, data], offset=1)
    table = pa.table({"a": values, "s": there(pa.array(["x", "y", "z"]))})
    for sliced in (table, table.slice(1, 2)):
        libcudf.clear()
        expected = [each for each in (1, 2, 3) if each > 1]
        assert back(sliced.filter(pc.field("a") > 1))["a"].to_pylist() == expected
        assert libcudf.count("import") == 3  # with the offsets of the strings
        libcudf.clear()
        assert back(sliced.filter(pc.field("a") > 1))["a"].to_pylist() == expected
        assert "import" not in libcudf
    place = id(table)
    assert conversions.conversion_of(table).column.columns()[0].data().ptr == data.address
    del table, sliced
    assert place not in conversions._conversions


@pytest.mark.parametrize(
    "column",
    [
        lambda it: pa.chunked_array([it, it]),
        lambda it: it.slice(1),
        lambda it: it.cast(pa.bool_()),
    ],
)
def test_copies_of_tables_are_not_kept(there, libcudf, column):
    """They would not follow the program's writes."""
    values = there(pa.array([1, None, 3]))
    copied = pa.table({"a": column(values), "b": column(values)})
    copied.filter(pc.field("a").is_valid())
    assert conversions.conversion_of(copied) is None


def test_a_stream_in_a_block_waits_for_results(there, default_stream):
    context = cuda.Context(0)
    result = pc.add(there(pa.array([1, 2])), 1)
    with pyarrow_cuda_compat.Stream(context, non_blocking=True) as stream:
        let_go = default_stream.hold()
        _native._computing([result], lambda: result)
        assert not stream.query()
        let_go()
        assert back(result).to_pylist() == [2, 3]


def test_sets_on_the_host_are_copied(there, cudf, libcudf):
    columns = sys.modules["pyarrow_cuda_compat._cudf.columns"]
    mask = there(pa.array([True, None])).buffers()[0]
    half = pa.Array.from_buffers(pa.int8(), 2, [mask, pa.py_buffer(b"ab")])
    for array, expected in ((pa.array([1, 2]), [1, 2]), (half, [97, None])):
        made = _native._computing([there(array)], partial(columns.to_cudf, array))
        assert made.value.to_pylist() == expected


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


KINDS = {name: type(name, (), {"__init__": lambda *_: None}) for name in ("Cuda", "Callback")}


def rmm_with(monkeypatch):
    """Stands in for RMM.  Returns its resources by the number of the device."""
    chosen = {0: KINDS["Cuda"]()}
    mr = ModuleType("rmm.mr")
    vars(mr).update({f"{name}MemoryResource": kind for name, kind in KINDS.items()})
    mr.get_per_device_resource, mr.set_per_device_resource = chosen.get, chosen.__setitem__
    rmm = ModuleType("rmm")
    rmm.mr = mr
    for module in (rmm, mr):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr(rmm_resource, "_shared", {})
    monkeypatch.setattr(rmm_resource, "_set_resource", set_resource)
    return chosen


def test_rmm_allocates_here_unless_the_program_has_chosen(monkeypatch):
    chosen = rmm_with(monkeypatch)
    rmm_resource.share_memory(cuda.Context(0))
    first = chosen[0]
    assert isinstance(first, KINDS["Callback"])
    rmm_resource.share_memory(cuda.Context(0))
    assert chosen[0] is first
    # As after a reset of the device.
    rmm_resource._shared[0] = object(), first
    rmm_resource.share_memory(cuda.Context(0))
    assert chosen[0] is not first
    theirs = chosen[0] = KINDS["Callback"]()
    rmm_resource._shared[0] = object(), first
    rmm_resource.share_memory(cuda.Context(0))
    assert chosen[0] is theirs


def test_a_first_call_within_another_shares_one_resource(monkeypatch):
    """As of a finalizer, or of a thread: the call around it would take ours for the program's."""
    chosen = rmm_with(monkeypatch)
    name = "pyarrow_cuda_compat.rmm"
    monkeypatch.delitem(sys.modules, name, raising=False)

    class Within:
        def find_spec(self, found, path=None, target=None):
            if found == name and self in sys.meta_path:
                sys.meta_path.remove(self)
                rmm_resource.share_memory(cuda.Context(0))

    monkeypatch.setattr(sys, "meta_path", [Within(), *sys.meta_path])
    rmm_resource.share_memory(cuda.Context(0))
    assert not any(isinstance(it, Within) for it in sys.meta_path)
    assert rmm_resource._shared[0] == (cuda.Context(0), chosen[0])


def test_no_other_thread_sets_a_resource_meanwhile(monkeypatch):
    chosen, found = rmm_with(monkeypatch), []
    mr = sys.modules["rmm.mr"]

    def get(device):
        found.append(in_thread(lambda: rmm_resource._lock.acquire(blocking=False)))
        return chosen[device]

    mr.get_per_device_resource = get
    rmm_resource.share_memory(cuda.Context(0))
    assert found == [False]


def test_buffers_are_refused(there):
    with pytest.raises(NotImplementedError, match="add reads it in host memory"):
        pc.call_function("add", [cuda.Context(0).buffer_from_data(b"x"), 1])


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


def word():
    return pa.array(["a"]).copy_to(cuda.Context(0))


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (lambda it: pc.quantile(it, q=float("nan")), "not beyond 0 and 1"),
        (lambda it: pc.round(it.cast(pa.float64()), ndigits=11), "not to so many digits"),
        (lambda it: pc.pairwise_diff(it, 2**31), "not over so many rows"),
        (lambda it: pc.stddev(it, ddof=-1), "not with such degrees of freedom"),
        (lambda it: pc.match_substring(word(), b"\xc3"), "not UTF-8"),
        (lambda it: pc.ascii_lpad(word(), 3, "\u00e9"), "not to such a width"),
        (lambda it: pc.utf8_rpad(word(), -3, "x"), "not to such a width"),
        (lambda it: pc.utf8_slice_codeunits(word(), 2**31, 2**32), "behind such a number"),
        (lambda it: pc.match_substring_regex(word(), "\\ba"), "such a regular expression"),
        (lambda it: pc.day_of_week(it.cast(pa.timestamp("s")), week_start=8), "not such a week"),
        (lambda it: pc.winsorize(it, 0.1, 0.9), "libcudf has no such function"),
        (lambda it: pc.sum(it.cast(pa.string_view())), "not from int64"),
        (lambda it: pc.rank(it), "libcudf refuses this call: CUDF failure"),
        (lambda it: pc.case_when(pa.scalar({"a": True}), it), "not with one value for all rows"),
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


@pytest.mark.parametrize("put", [lambda it: it, lambda it: it.copy_to(0)])
def test_the_length_of_a_call(put):
    array = put(pa.array([1, 2, 3]))
    add, count = pc.get_function("add"), pc.get_function("count")
    for length in (3, -1, None):
        assert back(add.call([array, 1], length=length)).to_pylist() == [2, 3, 4]
    for data in (array, array.slice(0, 0)):
        with pytest.raises(pa.ArrowInvalid, match=r"length of values .* scalar function 'add'"):
            add.call([data, 1], length=2)
    assert count.call([array], length=2).as_py() == 3


def test_arguments_of_a_function_are_read_once(there):
    array = there(pa.array([1, 2]))
    assert back(pc.call_function("add", (each for each in (array, 1)))).to_pylist() == [2, 3]

    class Items:
        times = 0

        def __iter__(self):
            self.times += 1
            return iter([array, self.times])

    items = Items()
    assert back(pc.get_function("add").call(items)).to_pylist() == [2, 3]
    assert items.times == 1


def test_values_of_python_and_numpy(there):
    array = there(pa.array([1, 2]))
    for value in (2, np.int64(2), np.array([2, 2]), [2, 2]):
        assert back(pc.add(array, value)).to_pylist() == [3, 4]
    for value in (range(2), 2**64):
        with pytest.raises(TypeError, match="Got unexpected argument type"):
            pc.add(array, value)
    with pytest.raises(pa.ArrowInvalid, match="only handle 1-dimensional"):
        pc.add(array, np.array(1))


def test_dates_that_python_does_not_have(there):
    last = pa.scalar(2**31 - 1, pa.int32()).cast(pa.date32())
    dates = there(pa.array([0, 2**31 - 1], pa.int32()).cast(pa.date32()))
    assert back(pc.equal(dates, last)).to_pylist() == [False, True]


def test_filters_by_times_that_python_does_not_have(there):
    table = pa.table({"t": pa.array([1, None, 3], pa.date32())})
    expression = pc.field("t") < pa.scalar(2**62, pa.timestamp("us"))
    with suppress(NotImplementedError):
        assert back(there(table).filter(expression)).equals(table.filter(expression))


def test_functions_of_whole_columns_in_filters(there):
    table = pa.table({"a": [True, None]})
    expression = pc.Expression._call("drop_null", [pc.field("a")])
    for data in (table, there(table)):
        with pytest.raises((pa.ArrowInvalid, NotImplementedError)):
            data.filter(expression)


def test_fields_within_columns_are_refused(there):
    table = there(pa.table({"k": [1, 2], "s": [{"x": 1}, {"x": 2}]}))
    records = there(pa.array([{"a.b": 1, "": 2}]))
    for call in (
        lambda: table.group_by("k").aggregate([(".s.x", "count")]),
        lambda: table.group_by([]).aggregate([(".s.x", "count")]),
        lambda: pc.struct_field(records, "a.b"),
        lambda: pc.struct_field(records, []),
    ):
        with pytest.raises(NotImplementedError, match="Implemented only for data on CPU"):
            call()
    with pytest.raises(NotImplementedError, match="tables without columns"):
        there(pa.table({"a": [1]})).select([]).take(there(pa.array([0])))


NAMED = pa.table(
    [[3, 1, 2, 1], [4, 3, 2, 1], [1, 2, 3, 4], [0, 0, 1, 1], [2, 1, 2, 1], [9, 8, 7, 6]],
    ["k", "a.b", ".k", "[0]", "", "x\\y"],
)


@pytest.mark.parametrize("name", ["k", "a.b", ".k", "[0]", "", "x\\y", ".a\\.b", ".\\k", "."])
def test_names_and_paths_of_columns(there, name):
    def call(table):
        groups = table.group_by(name, use_threads=False).aggregate([(name, "sum"), (".k", "min")])
        other = table.rename_columns(["k", "a.b", ".k", "[0]", "z", "x\\y"])
        pairs = table.join(other, name, "k", join_type="inner", right_suffix="_r")
        return [groups, table.sort_by(name), pairs.sort_by("x\\y_r")]

    for found, expected in zip(call(there(NAMED)), call(NAMED), strict=True):
        assert back(found).equals(expected)


def test_the_numbers_of_columns(there):
    other = NAMED.select(["k"])
    expected, found = (
        one.join(two, 0, join_type="right outer", right_suffix="_r").sort_by("a.b")
        for one, two in ((NAMED, other), (there(NAMED), there(other)))
    )
    assert back(found).equals(expected)
    order = pc.sort_indices(NAMED, sort_keys=[(1, "descending"), (0, "ascending")])
    assert back(
        pc.sort_indices(there(NAMED), sort_keys=[(1, "descending"), (0, "ascending")])
    ).equals(order)


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


@pytest.mark.parametrize(
    "expression",
    [
        pc.struct_field(pc.field("s"), ["y"]),
        pc.struct_field(pc.field("s"), ["x"]) > 1,
        pc.is_null(pc.make_struct(pc.field("a"), pc.field("b"), field_names=["p", "q"])),
        pc.case_when(pc.make_struct(pc.field("b"), field_names=["c"]), pc.field("a"), 0) > 1,
    ],
)
def test_filters_by_structs(there, expression):
    structs = pa.array([{"x": 1, "y": True}, None, {"x": 3, "y": False}])
    table = pa.table({"s": structs, "a": [1, 2, 3], "b": [True, False, True]})
    assert back(there(table).filter(expression)).equals(table.filter(expression))


@pytest.mark.parametrize(
    "expression",
    [
        pc.add(pc.field("i"), 100) < 0,  # wraps: literals get the smallest type
        pc.field("i") + 100 > 0,  # overflows
        pc.field("i") + 1000 > 0,
        pc.field("f") + 1.0 > 16777216.0,  # in single precision
        pc.field("f") + 0.1 > 16777216.0,
        pc.field("i") > pc.scalar(1) + 2,
        (pc.scalar(1) > 2) | (pc.field("i") > 0),
        pc.field("l") > 2.5,  # in single precision, which does not have the number
        pc.field("i"),
        pc.cumulative_sum(pc.field("i")) > 0,
    ],
)
def test_expressions_have_pyarrows_types(there, expression):
    table = pa.table(
        {
            "i": pa.array([100, -5], pa.int8()),
            "f": pa.array([16777216.0, 1.0], pa.float32()),
            "l": [2**30 + 1, 0],
        }
    )
    try:
        expected = table.filter(expression)
    except pa.ArrowException as error:
        with pytest.raises(type(error)):
            there(table).filter(expression)
    else:
        assert back(there(table).filter(expression)).equals(expected)


@pytest.mark.parametrize(
    ("expression", "passes"),
    [
        ((pc.field("a") >= 1) & (pc.field("b") < 2.5) & ~pc.field("c"), 1),
        ((pc.field("a") > 1) | pc.field("c"), 1),
        (pc.field("a") + pc.field("a") > 2, 1),
        (pc.field("d") == "x", 1),
        (pc.field("a") > pa.scalar(None, pa.int64()), 0),
        (pc.field("a") > pc.field("b"), 1),  # of two types
        (pc.field("b") == 2**53 + 1, None),  # a number that the column's type does not have
    ],
)
def test_expressions_are_computed_in_one_pass(there, libcudf, expression, passes):
    table = pa.table(
        {"a": [1, 2, None, 0], "b": [1.5, 2.5, 0.5, -0.0], "c": [False, True, None, False]}
    ).append_column("d", pa.array(["x", "y", None, "x"]))
    if passes is None:
        with pytest.raises(pa.ArrowInvalid):
            there(table).filter(expression)
        return
    assert back(there(table).filter(expression)).equals(table.filter(expression))
    assert libcudf.count("compute_column") == passes
    # As for another table of the same columns before.
    table = table.take([3, 1, 0, 2])
    assert back(there(table).filter(expression)).equals(table.filter(expression))
    assert there(table.slice(0, 0)).filter(expression).num_rows == 0


def test_results_are_not_read_again(there, libcudf):
    array = there(pa.array([3, 1, 2]))
    mask = pc.greater(array, 1)
    libcudf.clear()
    assert back(array.filter(mask)).to_pylist() == [3, 2]
    assert libcudf == ["import"]  # of the array
    del mask
    assert back(array.filter(pc.less(array, 3))).to_pylist() == [1, 2]


@pytest.mark.parametrize("kind", [pa.int8(), pa.uint8(), pa.int64(), pa.uint64()])
def test_indices_beyond_the_data(there, kind):
    array = there(pa.array([1, 2, 3]))
    assert back(array.take(there(pa.array([2, 0], kind)))).to_pylist() == [3, 1]
    assert back(array.take(there(pa.array([], kind)))).to_pylist() == []
    for indices, wrong in (([0, 3], 3), ([1, 4, 3], 4), ([4, 5], 4)):
        with pytest.raises(pa.lib.ArrowIndexError, match=f"Index {wrong} out of bounds"):
            array.take(there(pa.array(indices, kind)))
    if pa.types.is_signed_integer(kind):
        with pytest.raises(pa.lib.ArrowIndexError, match="Index -1 out of bounds"):
            array.take(there(pa.array([4, -1, 0], kind)))


def test_the_order_of_a_result_is_not_looked_at(there, libcudf):
    array = there(pa.array([3.5, 1.5, 2.5]))
    order = pc.sort_indices(array)
    libcudf.clear()
    assert back(array.take(order)).to_pylist() == [1.5, 2.5, 3.5]
    assert libcudf == ["import", "gather"]
    with pytest.raises(pa.lib.ArrowIndexError):
        array.slice(1).take(order)


@pytest.mark.parametrize(("last", "keys"), [(2.5, 1), (float("nan"), 2), (float("inf"), 1)])
def test_a_key_for_nan_only_where_there_is_one(there, libcudf, last, keys):
    values = pa.array([3.5, None, last, 1.5])
    assert back(pc.sort_indices(there(values))).equals(pc.sort_indices(values))
    assert f"sort by {keys}" in libcudf


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1.0, None, -3.0], pa.int32()),
        ([0.5], pa.int32()),
        ([float("nan")], pa.int32()),
        ([2.0**31], pa.int32()),
        ([-(2.0**31)], pa.int32()),
        ([-1.0], pa.uint8()),
    ],
)
def test_casts_that_lose_nothing(there, values, kind):
    array = pa.array(values)
    try:
        expected = array.cast(kind)
    except pa.ArrowInvalid:
        with pytest.raises(pa.ArrowInvalid, match="truncated"):
            there(array).cast(kind)
    else:
        assert back(there(array).cast(kind)).equals(expected)


def test_strings_beyond_ascii_are_refused(there):
    assert back(pc.utf8_upper(there(pa.array(["ab", None])))).to_pylist() == ["AB", None]
    with pytest.raises(NotImplementedError, match="beyond ASCII"):
        pc.utf8_title(there(pa.array(["é"])))


def test_calls_are_recorded(there, caplog):
    array = there(pa.array([1, 2, 3]))
    pyarrow_cuda_compat.set_tracing(log=True)
    try:
        with caplog.at_level("DEBUG", "pyarrow_cuda_compat.compute"):
            pc.add(array, 1)
            with pytest.raises(NotImplementedError):
                pc.winsorize(array, 0.1, 0.9)
    finally:
        pyarrow_cuda_compat.set_tracing(log=False)
    calls = [(each.call, each.rows) for each in caplog.records]
    assert calls == [("pyarrow.compute.add", 3), ("pyarrow.compute.winsorize", 3)]
    facts = [(each.nbytes, each.device) for each in caplog.records]
    assert facts == [(24, 0), (None, None)]
    first, second = (each.getMessage() for each in caplog.records)
    assert "add: 24 bytes, 3 rows by libcudf, device 0, " in first
    assert "failed after" in second


#: Arguments of methods that need some.
ARGUMENTS = {
    "cast": [pa.float64()],
    "Table.cast": [pa.schema([("a", pa.float64())])],
    "fill_null": [1],
    "index": [1],
    "take": [[0]],
    "filter": [pa.array([True, False])],
    "sort_by": ["a"],
    "group_by": ["a"],
    "join": [pa.table({"a": [1]}), "a"],
    "join_asof": [pa.table({"a": [1]}), "a", [], 0],
}


@pytest.mark.parametrize(
    "method", [name for _, names, rule in TABLE if rule == METHOD for name in names.split()]
)
def test_methods_call_functions(there, monkeypatch, method):
    owner, _, name = method.partition(".")
    array = there(pa.array([1, 2]))
    batch = pa.record_batch({"a": array})
    data = {"Array": array, "ChunkedArray": pa.chunked_array([array]), "RecordBatch": batch}
    data |= {"Table": pa.Table.from_batches([batch]), "_Tabular": batch}
    monkeypatch.setattr(engine, "_found", "none here")
    call = partial(getattr(data[owner], name), *ARGUMENTS.get(method, ARGUMENTS.get(name, [])))
    if name == "group_by":
        call = partial(call().aggregate, [("a", "sum")])
    with pytest.raises(NotImplementedError, match=r"pyarrow\.[\w.]+(, as in \w+,)? reads it"):
        call()


@pytest.mark.parametrize(
    ("method", "function"),
    [
        ("value_lengths", "list_value_length"),
        ("value_parent_indices", "list_parent_indices"),
    ],
)
def test_methods_of_lists_call_functions(there, monkeypatch, method, function):
    monkeypatch.setattr(engine, "_found", "none here")
    with pytest.raises(NotImplementedError, match=f"pyarrow.compute.{function} reads it"):
        getattr(there(pa.array([[1], None])), method)()


def test_methods_check_what_they_do_not_call_functions_for(there):
    array = there(pa.array([1, 2]))
    with pytest.raises(NotImplementedError):
        array.to_pylist()
    assert array.sum().as_py() == 3
    with pytest.raises(NotImplementedError):
        array.to_pylist()


@pytest.mark.skipif(not hasattr(pa.Array, "__add__"), reason="pyarrow 25 and later have operators")
@pytest.mark.parametrize(
    ("operator", "function"),
    [
        (operator.add, "add_checked"),
        (operator.sub, "subtract_checked"),
        (operator.mul, "multiply_checked"),
        (operator.truediv, "divide_checked"),
        (operator.pow, "power_checked"),
        (operator.and_, "bit_wise_and"),
        (operator.or_, "bit_wise_or"),
        (operator.xor, "bit_wise_xor"),
        (operator.lshift, "shift_left_checked"),
        (operator.rshift, "shift_right_checked"),
        (lambda one, _: -one, "negate_checked"),
        (lambda one, _: abs(one), "abs_checked"),
    ],
)
def test_operators_call_functions(there, monkeypatch, operator, function):
    array = pa.array([3, 5])
    expected = operator(array, 1)
    monkeypatch.setattr(engine, "_found", "none here")
    for other in (1, array, there(array)):
        with pytest.raises(NotImplementedError, match=f"pyarrow.compute.{function} reads it"):
            operator(there(array), other)
    assert operator(array, 1).equals(expected)
    with pytest.raises(NotImplementedError):  # the check acts again
        there(array).to_pylist()


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
    ("version", "reason"),
    [(None, "install pylibcudf-cu13, or"), ("25.4.0", "answers are known of")],
)
def test_why_there_is_none(there, monkeypatch, version, reason):
    def installed(name):
        if version is None or name != "pylibcudf-cu13":
            raise importlib.metadata.PackageNotFoundError(name)
        return version

    monkeypatch.delenv("PYARROW_CUDA_COMPUTE_ENGINE")
    monkeypatch.setattr(importlib.metadata, "version", installed)
    monkeypatch.setattr(_native, "_driver", lambda: {"simulated": False})
    monkeypatch.setattr(engine, "_found", None)
    with pytest.raises(NotImplementedError, match=reason):
        pc.sum(there(pa.array([1])))
    with pytest.raises(ImportError, match=reason):
        pyarrow_cuda_compat.set_compute_engine("cudf")
    assert engine._chosen is None


@pytest.mark.simulator
def test_the_simulated_device_asks_for_a_gpu_first(there, monkeypatch):
    monkeypatch.delenv("PYARROW_CUDA_COMPUTE_ENGINE")
    monkeypatch.setattr(engine, "_found", None)
    with pytest.raises(
        NotImplementedError, match="the simulated device runs no kernels of libcudf"
    ):
        pc.sum(there(pa.array([1])))


KEPT = Path(__file__).parents[2] / "conformance/results/compute.json"


def test_each_kernel_was_compared_with_pyarrow_on_a_gpu(cudf):
    """`python -m compute.answers --json` on a GPU writes the file anew after a change."""
    kept = json.loads(KEPT.read_text())["kernels"]
    digests = {name: "" for name in METHODS}
    digests |= {name: digest_of(kernel) for name, kernel in cudf.KERNELS.items()}
    assert {name: it["digest"] for name, it in kept.items()} == digests
    assert all(it["same"] >= 1000 for it in kept.values())


def test_filters_of_tables_with_pinned_columns(ctx, cuda, there):
    pinned = cuda.new_host_buffer(24)
    memoryview(pinned).cast("B")[:] = b"".join(it.to_bytes(8, "little") for it in (5, 6, 7))
    column = pa.Array.from_buffers(pa.int64(), 3, [None, pinned])
    table = pa.table({"a": there(pa.array([1, 2, 3])), "b": column})
    assert back(table.filter(pc.field("a") > 1)).to_pydict() == {"a": [2, 3], "b": [6, 7]}
    assert back(table.take(there(pa.array([2])))).to_pydict() == {"a": [3], "b": [7]}
