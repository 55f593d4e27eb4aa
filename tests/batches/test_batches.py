"""Record batches as messages in device memory."""

import struct

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.c_device import structure
from support.driver import DOWN
from support.samples import ALL, ARRAYS, BATCH, CPU, buffers_of, shapes

CUDA = pa.DeviceAllocationType.CUDA


def check_message(cuda, message, batch):
    """It is pyarrow's.  Slices of views and dense unions have less data, and other padding."""
    written = batch.serialize()
    if not any("view" in str(it) or "dense" in str(it) for it in batch.schema.types):
        assert message.to_pybytes() == written.to_pybytes()
    elif message.to_pybytes() != written.to_pybytes():
        assert message.size <= written.size
        if not any(map(pa.types.is_dictionary, batch.schema.types)):
            assert cuda.read_record_batch(message, batch.schema).copy_to(CPU).equals(batch)


@pytest.mark.parametrize("name", ARRAYS)
def test_a_batch_goes_to_the_device_and_back(cuda, ctx, name):
    for array in shapes(ARRAYS[name]):
        batch = pa.record_batch([array, array], names=["first", "second"])
        message = cuda.serialize_record_batch(batch, ctx)
        assert isinstance(message, cuda.CudaBuffer)
        check_message(cuda, message, batch)
        back = cuda.read_record_batch(message, batch.schema)
        assert (back.schema, back.num_rows) == (batch.schema, batch.num_rows)
        host = back.copy_to(CPU)
        host.validate(full=True)
        assert host.equals(batch)
        there = cuda.serialize_record_batch(batch.copy_to(ctx.memory_manager), ctx)
        # The bits behind those of a part may differ.
        assert cuda.read_record_batch(there, batch.schema).copy_to(CPU).equals(batch)
        first, last = message.address, message.address + message.size
        for buffer in buffers_of(back.column(0)):
            if buffer.size == 0:
                continue  # libarrow has one empty buffer for all
            assert (buffer.device_type, buffer.is_cpu) == (CUDA, False)
            assert buffer.device == ctx.device
            assert first <= buffer.address <= last - buffer.size
            part = cuda.CudaBuffer.from_buffer(buffer)
            assert (part.address, part.size) == (buffer.address, buffer.size)


def test_runs_without_elements_have_a_message(cuda, ctx):
    numbers = np.arange(1, 9, dtype="i4")
    runs = pa.RunEndEncodedArray.from_arrays(pa.array(numbers), pa.array(numbers))
    for start in (0, 5, 8):
        batch = pa.record_batch({"x": runs.copy_to(ctx).slice(start, 0)})
        message = cuda.serialize_record_batch(batch, ctx)
        back = cuda.read_record_batch(message, batch.schema).copy_to(CPU)
        assert back.equals(batch.copy_to(CPU))


@st.composite
def batches(draw):
    """Parts of arrays of every kind side by side, and parts of such batches."""
    names = draw(st.lists(st.sampled_from(sorted(ALL)), min_size=1, max_size=5))
    rows = draw(st.integers(0, min(len(ALL[name]) for name in names)))
    columns = []
    for name in names:
        offset = draw(st.integers(0, len(ALL[name]) - rows))
        columns.append(ALL[name].slice(offset, rows))
    batch = pa.record_batch(columns, names=names)
    return batch.slice(draw(st.integers(0, rows)), draw(st.integers(0, rows)))


@given(batch=batches())
def test_the_message_is_what_pyarrow_writes(cuda, ctx, batch):
    check_message(cuda, cuda.serialize_record_batch(batch, ctx), batch)


def test_columns_in_pinned_and_device_memory_are_written(cuda, ctx):
    pinned = cuda.new_host_buffer(24)
    memoryview(pinned).cast("B")[:] = struct.pack("3q", 1, 2, 3)
    there = ctx.buffer_from_data(struct.pack("3q", 7, 8, 9))
    x = pa.Array.from_buffers(pa.int64(), 3, [None, pinned])
    y = pa.Array.from_buffers(pa.int64(), 3, [None, there], null_count=0)
    batch = pa.record_batch([x, y, pa.array(["a", None, "c"])], ["x", "y", "z"])
    expected = {"x": [1, 2, 3], "y": [7, 8, 9], "z": ["a", None, "c"]}
    message = cuda.serialize_record_batch(batch, ctx)
    assert cuda.read_record_batch(message, batch.schema).copy_to(CPU).to_pydict() == expected


@pytest.mark.parametrize("rows", [1000, 100_000, 400_000])
def test_large_and_small_columns_side_by_side(cuda, ctx, rows):
    numbers = pa.array(range(rows))
    halves = pa.array([None if i % 2 else i for i in range(rows)], pa.int32())
    words = pa.array([f"{i}" * (i % 3) for i in range(rows)])
    names = ["numbers", "nothing", "halves", "words", "views", "lists", "more"]
    lists = pa.ListArray.from_arrays(pa.array([*range(0, rows, 7), *[rows] * 2]), numbers)
    lists = pa.concat_arrays([lists, pa.nulls(rows - len(lists), lists.type)])
    columns = [numbers, pa.nulls(rows), halves, words, words.cast(pa.string_view()), lists, numbers]
    batch = pa.record_batch(columns, names=names)
    for part in (batch, batch.slice(3), batch.slice(rows // 3, rows // 2), batch.slice(rows - 1)):
        message = cuda.serialize_record_batch(part, ctx)
        check_message(cuda, message, part)
        assert cuda.read_record_batch(message, part.schema).copy_to(CPU).equals(part)


def test_the_data_is_not_copied_on_the_host(run_python):
    """In a process of its own: the most that was ever allocated is counted from its start."""
    code = """
import pyarrow as pa
from pyarrow import cuda
ctx = cuda.Context()
pool = pa.default_memory_pool()
column = pa.array(range(2_000_000))
batch = pa.record_batch([column, column], names=["a", "b"])
before = pool.max_memory()
held = [pa.allocate_buffer(before - pool.bytes_allocated())]
message = cuda.serialize_record_batch(batch, ctx)
print(message.size > 32_000_000, pool.max_memory() - before < 100_000)
"""
    assert run_python(code) == (0, "True True\n", "")


def test_a_batch_without_columns_may_lie_on_a_device(cuda, ctx):
    empty = pa.record_batch([], names=[])
    message = cuda.serialize_record_batch(empty.copy_to(ctx.memory_manager), ctx)
    assert message.to_pybytes() == empty.serialize().to_pybytes()


def _nested(depth):
    array = pa.array([1])
    for _ in range(depth):
        array = pa.ListArray.from_arrays(pa.array([0, 1], pa.int32()), array)
    return array


@pytest.mark.parametrize("column", [_nested(70), pa.nulls(2**31)], ids=["depth", "length"])
def test_what_cannot_be_written_is_refused_as_pyarrow_does(cuda, ctx, column):
    batch = pa.record_batch([column], names=["x"])
    with pytest.raises(pa.ArrowException) as expected:
        batch.serialize()
    with pytest.raises(type(expected.value)) as caught:
        cuda.serialize_record_batch(batch, ctx)
    assert (type(caught.value), str(caught.value)) == (expected.type, str(expected.value))


@pytest.mark.parametrize("first", [-(10**6), 10**6, 2**31 - 100])
def test_offsets_that_lead_outside_are_refused(cuda, ctx, first):
    """pyarrow looks at the first and the last offset of a whole array only."""
    items = pa.array([1, 2, 3], pa.int8())
    fields = [pa.field("key", pa.int8(), nullable=False), pa.field("value", pa.int8())]
    pairs = pa.StructArray.from_arrays([items, items], fields=fields)
    for code, text, binary, of_items in (
        ("<4i", pa.string(), pa.binary(), pa.list_(pa.int8())),
        ("<4q", pa.large_string(), pa.large_binary(), pa.large_list(pa.int8())),
    ):
        offsets = pa.py_buffer(struct.pack(code, 0, first, first + 50, 3))
        lists = pa.Array.from_buffers(of_items, 3, [None, offsets], children=[items])
        columns = [
            pa.Array.from_buffers(text, 3, [None, offsets, pa.py_buffer(b"abc")]),
            pa.Array.from_buffers(binary, 3, [None, offsets, pa.py_buffer(b"abc")]),
            lists,
            pa.ListArray.from_arrays(pa.array([0, 1, 2, 3], pa.int32()), lists),
            pa.StructArray.from_arrays([items, lists], ["a", "b"]),
        ]
        if of_items.id == pa.list_(pa.int8()).id:
            pair = pa.map_(pa.int8(), pa.int8())
            columns.append(pa.Array.from_buffers(pair, 3, [None, offsets], children=[pairs]))
        for column in columns:
            refuse(cuda, ctx, pa.record_batch([column], names=["x"]).slice(1, 1))


@pytest.mark.parametrize("kind", [pa.list_(pa.int8()), pa.large_list(pa.int8())], ids=str)
def test_the_only_offset_of_no_lists_may_be_any_number(cuda, ctx, kind):
    """If there are no values, either, and it is the first offset: libarrow slices others by it,
    and aborts."""
    width = np.int64 if kind == pa.large_list(pa.int8()) else np.int32
    buffers = [None, pa.py_buffer(np.array([5, 5], width))]
    nothing, wrong, later = (
        pa.Array.from_buffers(
            kind, 0, buffers, offset=first, children=[pa.array(values, pa.int8())]
        )
        for first, values in ((0, []), (0, [1, 2, 3]), (1, []))
    )
    batch = pa.record_batch([nothing], names=["x"])
    message = cuda.serialize_record_batch(batch, ctx)
    assert message.to_pybytes() == batch.serialize().to_pybytes()
    for column in (wrong, later):
        refuse(cuda, ctx, pa.record_batch([column], names=["x"]))


@pytest.mark.parametrize("kind", [pa.int16(), pa.int32(), pa.int64()], ids=str)
@pytest.mark.parametrize("ends", [(0, 6), (3, 2), (-1, 6), (2, 3), (2, 5), (-2, -1)], ids=str)
def test_runs_that_end_nowhere_are_refused(cuda, ctx, kind, ends):
    """libarrow looks the first and the last run up by their ends."""

    def content(ends):
        return pa.array(ends, kind).buffers()[1].slice(0, 2 * kind.byte_width).to_pybytes()

    memory = bytearray(content([2, 6]))
    array = pa.Array.from_buffers(kind, 2, [None, pa.py_buffer(memory)])
    column = pa.RunEndEncodedArray.from_arrays(array, pa.array([7, 8]))
    batches = [
        pa.record_batch([column.slice(start, length)], names=["x"])
        for start, length in ((0, 6), (2, 4), (1, 2), (6, 0))
    ]
    for batch in batches:
        message = cuda.serialize_record_batch(batch, ctx)
        assert message.to_pybytes() == batch.serialize().to_pybytes()
    # pyarrow compares the last end with the length when it makes a batch, and not later.
    memory[:] = content(ends)
    for batch in batches[:2]:
        refuse(cuda, ctx, batch)


def refuse(cuda, ctx, batch):
    with pytest.raises(pa.ArrowInvalid, match="offsets of a column lead outside its data"):
        cuda.serialize_record_batch(batch, ctx)


@pytest.mark.parametrize("offsets", [[0, -1, 2], [0, 4, 2], [0, 1, -(2**31)], [2**31 - 1, 0, 0]])
def test_views_and_unions_that_lead_outside_are_refused(cuda, ctx, offsets):
    items = pa.array([1, 2, 3], pa.int8())
    places = pa.array(offsets, pa.int32())
    sizes = pa.array([1, 1, 1], pa.int32())
    ids = pa.array([0, 0, 0], pa.int8())
    empty_ids = pa.array([0, 1, 0], pa.int8())
    columns = [
        pa.ListViewArray.from_arrays(places, sizes, items),
        pa.LargeListViewArray.from_arrays(places.cast("int64"), sizes.cast("int64"), items),
        pa.ListViewArray.from_arrays(sizes, places, items),
        pa.UnionArray.from_dense(ids, places, [items, items]),
        pa.UnionArray.from_dense(empty_ids, sizes, [items, items[:0]]),
    ]
    # An offset that nobody follows may be anything.
    nothing = pa.array([0, 0, 0], pa.int32())
    unused = pa.ListViewArray.from_arrays(places, nothing, items)
    validity = pa.py_buffer(b"\0")
    buffers = [validity, places.buffers()[1], sizes.buffers()[1]]
    nulls = pa.Array.from_buffers(unused.type, 3, buffers, children=[items])
    # libarrow believes a count of 0, whatever the bitmap says.
    schema, array = nulls.__arrow_c_device_array__()
    structure(array).array.null_count = 0
    columns.append(pa.Array._import_from_c_device_capsule(schema, array))
    for column in (unused, nulls):
        batch = pa.record_batch([column], names=["x"])
        message = cuda.serialize_record_batch(batch, ctx)
        assert message.to_pybytes() == batch.serialize().to_pybytes()
    for column in columns:
        refuse(cuda, ctx, pa.record_batch([column], names=["x"]))
        nested = pa.FixedSizeListArray.from_arrays(column, 3)
        refuse(cuda, ctx, pa.record_batch([nested], names=["x"]))


@pytest.mark.parametrize("kind", [pa.sparse_union, pa.dense_union])
def test_the_type_ids_of_a_part_may_end_with_their_buffer(cuda, ctx, kind):
    """libarrow rounds their length up, and writes what lies behind them."""
    names = map(str, range(100))
    children = [pa.array(range(100)), pa.array(names)]
    union = kind([pa.field("0", pa.int64()), pa.field("1", pa.string())])
    buffers = [None, pa.py_buffer(bytes([0, 1] * 50))]
    if kind is pa.dense_union:
        buffers.append(pa.array(range(100), pa.int32()).buffers()[1])
    whole = pa.Array.from_buffers(union, 100, buffers, children=children)
    nested = pa.StructArray.from_arrays([pa.FixedSizeListArray.from_arrays(whole, 1)], ["y"])
    for column in (whole, nested):
        for first in (0, 1, 36, 37, 63, 99):
            batch = pa.record_batch([column], names=["x"]).slice(first)
            message = cuda.serialize_record_batch(batch, ctx)
            back = cuda.read_record_batch(message, batch.schema).copy_to(CPU)
            back.validate(full=True)
            assert back.equals(batch)


@pytest.mark.simulator
@pytest.mark.parametrize("columns", [1, 256, 2000])
def test_metadata_travels_once(cuda, ctx, calls, columns):
    column = pa.array([1.5, None])
    batch = pa.record_batch([column] * columns, names=[f"c{i}" for i in range(columns)])
    message = cuda.serialize_record_batch(batch, ctx)
    back, [copies] = calls(lambda: cuda.read_record_batch(message, batch.schema), DOWN)
    # How long it is, is known only once its beginning was read.
    assert copies == (1 if columns <= 256 else 2)
    assert back.copy_to(CPU).equals(batch)


@pytest.mark.parametrize(
    "schema",
    [
        pa.schema([("a", pa.int64())]).append(pa.field("b", pa.int64())),
        pa.schema([("a", pa.list_(pa.int64())), ("s", pa.string())]),
        pa.schema([("a", pa.dictionary(pa.int8(), pa.string())), ("s", pa.string())]),
        pa.schema([("a", pa.int64()), ("s", pa.string_view())]),
        pa.schema([("a", pa.struct([("x", pa.int64()), ("y", pa.int64())])), ("s", pa.string())]),
    ],
    ids=str,
)
def test_another_schema_is_refused_or_read_within_bounds(cuda, ctx, schema):
    message = cuda.serialize_record_batch(BATCH, ctx)
    try:
        back = cuda.read_record_batch(message, schema)
    except (pa.ArrowException, OSError, KeyError):
        return
    # Both schemas may fit the same buffers; then at least nothing outside is touched.
    back.validate()
    assert back.copy_to(CPU).num_rows == 3
