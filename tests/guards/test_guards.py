"""Data on a device that reaches what pyarrow does on the host only."""

import functools
import importlib
import io
import json
from collections import UserList, UserString
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

from pyarrow_cuda_compat import _native
from pyarrow_cuda_compat._patches.guards import assertions
from pyarrow_cuda_compat._patches.guards.table import TABLE
from pyarrow_cuda_compat._start import bridges
from support.samples import CPU

WAY_OUT = r"^Implemented only for data on CPU.* copy_to\(.*; (CuPy and cuDF|the compute engine)"


@pytest.fixture(scope="module")
def outcome(interpreter, tmp_path_factory):
    """The outcome of a sample of calls, with data on the host and on the device."""
    found = tmp_path_factory.mktemp("guards") / "outcome.json"
    interpreter("-m", "guards", "--sample", "--json", found, timeout=280)
    return json.loads(found.read_text())


@pytest.mark.subprocesses
def test_all_of_pyarrow_answers_or_refuses(outcome):
    """No crash, no hang, and no other answer than on the host."""
    assert outcome["wrong"] == {}
    counts = outcome["counts"]
    assert counts["refused"] > 1_500  # fewer with older releases
    assert counts["the same answer"] > 1_000


NAMED = [(module, name) for module, names, _ in TABLE for name in names.split()]
#: Names that the older of the supported versions lack.
NEW = {"Array.to_tensor", "RecordBatchReaderSourceNodeOptions.__init__"}


def member_of(module, name):
    if module.startswith("pandas"):
        pytest.importorskip("pandas")
    found = importlib.import_module(module)
    for part in name.split("."):
        found = found and getattr(found, part, None)
    return found


@pytest.mark.parametrize(("module", "name"), NAMED)
def test_rows_name_members_of_pyarrow(module, name):
    assert NAMED.count((module, name)) == 1
    found = member_of(module, name)
    if found is None:
        assert name in NEW
        assert pa.cpp_version_info.major < max(bridges.releases())[0]


def test_what_is_refused_says_the_way_out(ctx):
    array = pa.array([3, 1, None]).copy_to(ctx.memory_manager)
    table = pa.table({"a": array})
    for work in (
        lambda: pc.sum(array),
        lambda: pc.is_in(pa.array([1]), value_set=array),
        lambda: table.sort_by("a"),
        lambda: pa.table({"a": pa.array([1, 2, 3])}).join(table, "a"),
    ):
        with pytest.raises(NotImplementedError, match=WAY_OUT):
            work()
    # These compute nothing.
    for work in (lambda: array.to_pylist(), lambda: array[0], lambda: table.to_pandas()):
        with pytest.raises(NotImplementedError, match=r"copy_to\(.cpu.\) copies the \w+ there$"):
            work()
    assert pc.sum(array.copy_to(CPU)).as_py() == 4
    with pytest.raises(NotImplementedError, match=r"pyarrow\.cuda\.BufferWriter"):
        pa.FixedSizeBufferWriter(ctx.new_buffer(8))
    with pytest.raises(NotImplementedError, match=r"pyarrow\.cuda\.BufferWriter"):
        pa.output_stream(ctx.new_buffer(8))


def test_what_needs_no_host_is_not_refused(ctx):
    put = lambda values, type: pa.array(values, type).copy_to(ctx.memory_manager)  # noqa: E731
    offsets, values = put([0, 1, 2], pa.int32()), put([4, 3], pa.int64())
    some_null = put([0, 1, 2, None], pa.int32())
    for made in (
        pa.ListArray.from_arrays(offsets, values),
        pa.ListArray.from_arrays(some_null.slice(0, 3), values),
        pa.LargeListArray.from_arrays(put([0, 1, 2], pa.int64()), values),
        pa.MapArray.from_arrays(offsets, values, values),
    ):
        assert not made.is_cpu
        assert len(made.copy_to(CPU)) == 2
    with pytest.raises(NotImplementedError, match=r"pyarrow\.ListArray\.from_arrays reads it in h"):
        pa.ListArray.from_arrays(some_null, values)
    table = pa.table({"a": values})
    wider = pa.table({"a": values, "b": offsets.slice(1)})
    for promote in ("default", "permissive"):
        both = pa.concat_tables([table, wider], promote_options=promote)
        assert both.copy_to(CPU)["b"].to_pylist() == [None, None, 1, 2]


def test_containers_on_the_host_give_what_they_gave(ctx):
    array = pa.array([1, None])

    class Once:
        def __init__(self, found):
            self.rest = iter(found)

        def __iter__(self):
            return self.rest

    for found in (Once([array, array]), {1: array, 2: array}.values(), iter([array] * 2)):
        assert pa.concat_arrays(found).to_pylist() == [1, None, 1, None]
    assert pa.chunked_array(Once([array])).to_pylist() == [1, None]
    with pytest.raises(TypeError, match="UserString"):
        pa.concat_arrays([UserString("ab")])


class Items:
    """Counts how often it is read."""

    def __init__(self, *items):
        self.items, self.times = items, 0

    def __iter__(self):
        self.times += 1
        return iter(self.items)


@pytest.mark.parametrize(
    "call", [partial(pc.call_function, "add"), lambda args: pc.get_function("add").call(args)]
)
def test_arguments_of_a_function_are_read_once(ctx, call):
    array = pa.array([1, 2])
    assert call(each for each in (array, 1)).to_pylist() == [2, 3]
    items = Items(array, 1)
    assert call(items).to_pylist() == [2, 3]
    assert items.times == 1
    with pytest.raises(TypeError, match="unexpected argument type <class 'generator'>"):
        call([array, (each for each in (1, 2))])
    items = Items(array.copy_to(ctx), 1)
    for given in (items, iter(items.items)):
        with pytest.raises(NotImplementedError, match=WAY_OUT):
            call(given)
    assert items.times == 1


def test_what_is_on_the_host_is_read_as_it_was(ctx, tmp_path):
    batch, read = pa.record_batch({"a": [1, 2]}), []

    class Endless:
        def __iter__(self):
            while True:
                read.append(1)
                yield batch

    scanner = ds.Scanner.from_batches(Endless(), schema=batch.schema)
    assert len(read) < 2
    del scanner

    class Relation:
        """Of another library, which reads it by its stream."""

        def __len__(self):
            return 2

        def __getitem__(self, place):
            raise TypeError("by names only")

        def __arrow_c_stream__(self, requested_schema=None):
            return pa.table(batch).__arrow_c_stream__(requested_schema)

    scanner = ds.Scanner.from_batches(Relation())
    assert scanner.to_table().num_rows == 2
    texts = np.array(["a", None], object)
    assert pc.utf8_length(texts).to_pylist() == [1, None]


def test_functions_of_the_users_keep_their_arguments(ctx):
    documentation = {"summary": "", "description": ""}

    def inner(context, x):
        return pc.add(x, 1)

    @functools.wraps(inner)
    def outer(*arguments):
        return pc.add(arguments[1], 1)

    two = [pa.array([1, 2])] * 2
    for name, function, given in (("one", inner, two[:1]), ("any", outer, two)):
        pc.register_scalar_function(
            function, f"guards {name}", documentation, {"x": pa.int64()}, pa.int64()
        )
        assert pc.call_function(f"guards {name}", given).to_pylist() == [2, 3]


def test_a_dict_that_changes_while_it_is_looked_at(ctx):
    arguments = {"options": None}

    class Changing(type):
        def __getattr__(cls, name):
            arguments[name] = 1
            raise AttributeError(name)

    class Value(metaclass=Changing):
        def __iter__(self):
            return iter([])

    arguments["value"] = Value()
    arguments["array"] = pa.array([1]).copy_to(ctx.memory_manager)
    found = _native._map_device_data(arguments, lambda data, first: "replaced")
    assert (found["array"], len(found)) == ("replaced", 3)
    assert len(arguments) > 3


def test_constructors_take_what_they_took(ctx):
    pa.FixedSizeBufferWriter(pa.allocate_buffer(8)).write(b"12")
    assert pa.BufferReader(b"12").read() == b"12"
    assert ds.InMemoryDataset([pa.table({"a": [1]})], schema=None).count_rows() == 1
    assert ds.InMemoryDataset(source=pa.table({"a": [1]})).count_rows() == 1
    with pytest.raises(TypeError):
        ds.InMemoryDataset()


def test_constructors_of_subclasses(ctx):
    class Writer(pa.FixedSizeBufferWriter):
        def __init__(self, buffer):
            """Without pyarrow's."""

    class Dataset(ds.InMemoryDataset):
        def __init__(self, source):
            super().__init__(source)

    there = pa.table({"a": pa.array([1]).copy_to(ctx.memory_manager)})
    for make in (lambda: Writer(ctx.new_buffer(8)), lambda: Dataset(there)):
        with pytest.raises(NotImplementedError, match="CPU device"):
            make()
    buffer = pa.allocate_buffer(4)
    with Writer(buffer) as writer:
        writer.write(ctx.buffer_from_data(b"1234"))
    assert buffer.to_pybytes() == b"1234"
    assert Dataset(pa.table({"a": [1]})).count_rows() == 1


def test_no_way_to_construct_is_left_open(ctx):
    new = pa.FixedSizeBufferWriter.__new__
    # libarrow ends the process for a buffer that is not mutable, on the host, too.
    read_only = pa.array([1]).copy_to(ctx.memory_manager).buffers()[1]
    # Python calls a class in another way when it has done so often.
    for number in range(100):
        for buffer in (ctx.new_buffer(8), read_only)[: 1 + (number == 99)]:
            for make in (pa.FixedSizeBufferWriter, lambda it: new(pa.FixedSizeBufferWriter, it)):
                with pytest.raises(
                    NotImplementedError, match=r"pyarrow\.FixedSizeBufferWriter reads"
                ):
                    make(buffer)
        pa.FixedSizeBufferWriter(pa.allocate_buffer(8)).write(b"12")
    with pytest.raises(TypeError, match="dict is not a subtype of"):
        new(dict, pa.allocate_buffer(8))
    with pytest.raises(TypeError):
        pa.FixedSizeBufferWriter()


def test_a_class_that_changes_after_its_first_call(ctx):
    there = pa.array([1, None]).copy_to(ctx.memory_manager)

    class Column:
        pass

    values = pa.array([1])
    with pytest.raises(TypeError, match="is not a valid value set"):
        pc.is_in(values, value_set=Column())
    Column.__arrow_array__ = lambda self, type=None: there
    with pytest.raises(NotImplementedError, match=WAY_OUT):
        pc.is_in(values, value_set=Column())


def test_objects_that_make_another_array_each_time(ctx):
    def made(*_, **__):
        return pa.array([1, None]).copy_to(ctx.memory_manager).slice(1)

    class Column:
        __arrow_array__ = made

    class Columns(UserList):
        def __getitem__(self, at):
            return [made()][at]

    class List(list):
        def __iter__(self):
            yield made()

    for columns in ([Column()], Columns([0]), List([0])):
        assert pa.chunked_array(columns).null_count == 1
        assert pa.Table.from_arrays(columns, ["x"])["x"].null_count == 1


PARTS = [(0, None), (1, 2), (2, None), (0, 0), (5, 1), (7, None), (99, 3), (3, 99)]


@pytest.mark.parametrize(("offset", "length"), PARTS)
def test_chunks_are_sliced_as_on_the_host(ctx, offset, length):
    chunks = [pa.array([1, None, 3]), pa.array([], pa.int64()), pa.array([None, 5, 6, 7])]
    there = [chunk.copy_to(ctx.memory_manager) for chunk in chunks]
    expected = pa.chunked_array(chunks).slice(offset, length)
    found = pa.chunked_array(there).slice(offset, length)
    assert not found.is_cpu
    assert [chunk.copy_to(CPU) for chunk in found.chunks] == expected.chunks
    schema = pa.schema([("a", pa.int64())], metadata={"b": "c"})
    table = pa.table([pa.chunked_array(there)], schema=schema).slice(offset, length)
    assert (table.schema, table.num_rows) == (schema, len(expected))
    assert table.schema.metadata == schema.metadata


def test_negative_offsets_are_refused_as_on_the_host(ctx):
    there = pa.chunked_array([pa.array([1, None]).copy_to(ctx.memory_manager)])
    for data in (there, pa.table({"a": there}), pa.chunked_array([[1, None]])):
        with pytest.raises(IndexError, match="Offset must be non-negative"):
            data.slice(-1)


BEFORE = """
import sys
import pyarrow as pa
from functools import partial
from pyarrow import concat_arrays, BufferReader
from pyarrow.compute import sum
import pyarrow._compute, pyarrow.lib
kept = partial(concat_arrays), pa.Array.diff, pa.BooleanArray.true_count.__get__
class Writer(pa.FixedSizeBufferWriter):
    pass
class Options(pyarrow._compute.SetLookupOptions):
    def __init__(self, data):
        super().__init__(data, skip_nulls=True)
from pyarrow import cuda
assert not {"pyarrow.parquet", "pyarrow.dataset", "pyarrow.acero"} & set(sys.modules)
array = pa.array([1, None]).copy_to(cuda.Context(0).memory_manager)
for work in (lambda: concat_arrays([array, array])[0], lambda: sum(array)):
    try:
        work()
    except NotImplementedError:
        print("refused")
assert BufferReader(cuda.Context(0).buffer_from_data(b"abc")).read() == b"abc"
def use(diff=kept[1]):
    return diff(array, array)
for work in (
    lambda: print(kept[0]([array, array]).null_count),
    use,
    lambda: kept[2](pa.array([True]).copy_to(cuda.Context(0).memory_manager)),
    lambda: Writer(cuda.Context(0).new_buffer(8)),
    lambda: Options(array),
):
    try:
        work()
    except NotImplementedError:
        print("refused")
import importlib, pyarrow.dataset as ds
for _ in range(2):
    ds.write_dataset(pa.table({"a": array}), sys.argv[1], format="feather",
                     existing_data_behavior="delete_matching")
    importlib.reload(ds)
import pyarrow.parquet as pq
sink = pa.BufferOutputStream()
pq.write_table(pa.table({"a": array}), sink)
print(pq.read_table(pa.BufferReader(sink.getvalue())).to_pydict())
"""


def test_what_was_imported_before_and_what_comes_later(run_python, tmp_path):
    refused = "refused\n"
    output = f"{refused * 2}2\n{refused * 4}{{'a': [1, None]}}\n"
    assert run_python(BEFORE, tmp_path) == (0, output, "")


OFF = """
import pyarrow as pa, pyarrow_cuda_compat as cuda
import pyarrow.dataset as ds
there = pa.record_batch({"a": [1]}).copy_to(cuda.Context(0).memory_manager)
print(type(ds.InMemoryDataset(there)).__name__, hasattr(ds.write_dataset, "__wrapped__"))
print(cuda._native._unguarded(pa.Array._export_to_c_device))
column = pa.Array._import_from_c_device_capsule(*there.column(0).__arrow_c_device_array__())
print(column.copy_to(pa.default_cpu_memory_manager()).to_pylist())
try:
    column.__dlpack__()
except Exception as error:
    print("CPU" in str(error))
"""


def test_without_the_hook_pyarrow_stays_as_it_is(run_python):
    said = "InMemoryDataset False\nNone\n[1]\nTrue\n"
    assert run_python(OFF, PYARROW_CUDA_HOOK="0") == (0, said, "")


def test_writers_and_readers_use_memory_of_the_host_only_once(ctx):
    """What is brought is released again."""
    batch = pa.record_batch({"a": list(range(1000))})
    there = batch.copy_to(ctx.memory_manager)
    before = pa.total_allocated_bytes()
    for _ in range(3):
        sink = pa.MockOutputStream()
        with pa.ipc.new_stream(sink, batch.schema) as writer:
            writer.write_batch(there)
    assert pa.total_allocated_bytes() == before


class Sink(io.BytesIO):
    """Remembers how much of the host's memory was allocated at most while it was written."""

    def __init__(self):
        super().__init__()
        self.before, self.most = pa.total_allocated_bytes(), 0

    def write(self, data):
        self.most = max(self.most, pa.total_allocated_bytes() - self.before)
        return super().write(data)


def write_messages(table, sink, rows):
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=rows)


def write_row_groups(table, sink, rows):
    options = {"compression": "none", "use_dictionary": False, "row_group_size": rows}
    pq.write_table(table, sink, **options)


CHUNKS = [pa.array(range(start, start + 20_000)) for start in range(0, 200_000, 20_000)]
WORDS = pa.list_(pa.dictionary(pa.int8(), pa.string()))
TABLES = {
    "numbers": pa.table({"a": pa.chunked_array(CHUNKS)}),
    "no rows": pa.table({"a": pa.chunked_array([], pa.int64())}),
    "nested dictionaries": pa.table(
        {"a": pa.chunked_array([pa.array([[each] * 2], WORDS) for each in "ab"])}
    ),
}


@pytest.mark.parametrize("name", TABLES)
@pytest.mark.parametrize("rows", [None, -1, 7_000, 50_000, 1 << 40])
@pytest.mark.parametrize("write", [write_messages, write_row_groups])
def test_tables_are_written_in_the_same_pieces(ctx, name, rows, write):
    there = TABLES[name].copy_to(ctx.memory_manager)
    expected, found = Sink(), Sink()
    write(TABLES[name], expected, rows)
    write(there, found, rows)
    assert found.getvalue() == expected.getvalue()


@pytest.mark.parametrize("write", [write_messages, write_row_groups])
def test_one_piece_of_a_table_at_a_time_is_in_host_memory(ctx, write):
    table = TABLES["numbers"]
    there = table.copy_to(ctx.memory_manager)
    sink = Sink()
    write(there, sink, 20_000)
    assert len(sink.getvalue()) > table.nbytes
    assert sink.most < table.nbytes / 2


def test_row_groups_of_no_rows_are_refused_as_on_the_host(ctx):
    there = TABLES["numbers"].copy_to(ctx.memory_manager)
    for table in (TABLES["numbers"], there):
        with pytest.raises(ValueError, match="Row group size cannot be 0"):
            write_row_groups(table, Sink(), 0)
        with pytest.raises(pa.ArrowInvalid, match="chunk size"):
            write_row_groups(table, Sink(), -2)


@pytest.mark.parametrize("rows", ["x", 2.5, b"1"])
@pytest.mark.parametrize("write", [write_messages, write_row_groups])
def test_wrong_numbers_of_rows_are_pyarrows_to_refuse(ctx, write, rows):
    def written(table):
        write(table, sink := Sink(), rows)
        return len(sink.getvalue())

    table = TABLES["numbers"].slice(0, 100)
    there = table.copy_to(ctx.memory_manager)
    assert outcome_of(written, there) == outcome_of(written, table)


def outcome_of(work, *arguments):
    try:
        return work(*arguments)
    except Exception as error:
        return type(error), str(error)


def sliced(data, start):
    return data.slice(start).copy_to(CPU)


def test_wrong_arguments_are_refused_as_on_the_host(ctx):
    table = pa.table({"a": [1, None]})
    there = table.copy_to(ctx.memory_manager)
    batches = table.to_batches()[0], there.to_batches()[0]
    for wrong in ("a", None, 1.5):
        for host, device in ((table, there), (table["a"], there["a"])):
            assert outcome_of(sliced, device, wrong) == outcome_of(sliced, host, wrong)
    for new in (pa.ipc.new_stream, pa.ipc.new_file):
        found = [outcome_of(new(Sink(), table.schema).write_table, batch) for batch in batches]
        assert found[0] == found[1]
        assert found[0][0] is TypeError


def test_scalars_of_dictionaries_on_a_device(ctx):
    words = pa.array(["x"]).copy_to(ctx.memory_manager)
    arguments = pa.dictionary(pa.int32(), pa.string()), True, pa.scalar(0, pa.int32()), words
    with pytest.raises(NotImplementedError, match=WAY_OUT):
        pa.DictionaryScalar._reconstruct(*arguments)


@pytest.mark.filterwarnings("ignore:The Dataframe Interchange Protocol is deprecated")
@pytest.mark.parametrize("array", [pa.array([1, 2]), pa.array([1.5, None]), pa.array([True])])
def test_pandas_lends_nothing_of_a_device(ctx, array):
    pd = pytest.importorskip("pandas")

    def lent(column):
        frame = pd.DataFrame({"a": pd.arrays.ArrowExtensionArray(column)})
        return pd.api.interchange.from_dataframe(frame.__dataframe__())

    assert len(lent(array)) == len(array)
    with pytest.raises(NotImplementedError, match="Implemented only for data on CPU device"):
        lent(array.copy_to(ctx.memory_manager))


def test_the_check_stays_pyarrows_without_its_declarations(monkeypatch, tmp_path):
    monkeypatch.setattr(pa, "__file__", str(tmp_path / "__init__.py"))
    assert assertions.install() is None


BODY = """    cdef:
        object a  # no slot
    cdef void init(
        self, int x) except *
{}    cdef void _assert_cpu(self) except *
"""


@pytest.mark.parametrize(
    ("line", "place"),
    [
        ("", 1),
        ("    cpdef object length(self)\n", 2),
        ("    cdef vector[int] sizes(self) nogil\n", 2),
        ("    cdef readonly object name\n", 1),
        ("    @staticmethod\n    cdef wrap(int x)\n", None),
        ("    cdef object call(self, object (*function)(int))\n", None),
    ],
)
def test_the_place_of_the_check_is_certain_or_refused(line, place):
    declarations = f"cdef class Array:\n{BODY.format(line)}"
    if place is None:
        with pytest.raises(ImportError, match=r"in Array, which is not understood; reinstall"):
            assertions._methods(declarations, "Array")
        return
    assert assertions._methods(declarations, "Array").index("_assert_cpu") == place
    with pytest.raises(ImportError, match="does not declare Table; reinstall pyarrow"):
        assertions._methods(declarations, "Table")


def test_a_table_whose_columns_have_no_rows_and_other_chunks(ctx):
    empty = pa.chunked_array([], pa.int64())
    two = pa.chunked_array([pa.array([], pa.int64()).copy_to(ctx.memory_manager)] * 2)
    table = pa.table({"none": empty, "two": two})
    part = table.slice(0, 5)
    assert [column.num_chunks for column in part.columns] == [0, 1]
    assert part.num_rows == 0
