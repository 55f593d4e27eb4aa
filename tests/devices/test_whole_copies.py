"""Arrays and record batches go to a device and back with all of their buffers at once."""

import ctypes
import gc
import pickle
import random

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pyarrow_cuda_compat import _native, set_transfer_limits
from support.samples import (
    ALL,
    CPU,
    buffers_of,
    chunks_of,
    distinct_buffers,
    empty_of,
    shapes,
    wait_for_release,
)
from support.streams import pinned_of

EVERY = pytest.mark.parametrize("name", ALL)


def copy_by_buffer(data, destination):
    """As pyarrow makes it by itself: a copy of each buffer by the destination's memory manager."""
    return _native._unguarded(type(data).copy_to)(data, destination)


def layout_of(cuda, data):
    """What an array consists of, but for addresses."""

    def content(buffer):
        if buffer is None or buffer.is_cpu:
            return buffer and buffer.to_pybytes()
        return cuda.CudaBuffer.from_buffer(buffer).to_pybytes()

    buffers = [(buffer and buffer.device_type, content(buffer)) for buffer in data.buffers()]
    return data.type, len(data), data.offset, data.device_type, buffers


@EVERY
def test_a_copy_is_what_pyarrows_own_is(cuda, ctx, other_ctx, name):
    whole, *parts = shapes(ALL[name])
    there = copy_by_buffer(whole, ctx.memory_manager)
    assert str(there) == str(whole)
    for destination in (ctx.memory_manager, ctx.device, other_ctx.device, CPU, CPU.device):
        for source in (whole, there):
            wanted = copy_by_buffer(source, destination)
            assert layout_of(cuda, source.copy_to(destination)) == layout_of(cuda, wanted)
        for part in parts:
            for source in (part, copy_by_buffer(part, ctx.memory_manager)):
                copy, wanted = source.copy_to(destination), copy_by_buffer(source, destination)
                assert (copy.type, copy.device_type) == (wanted.type, wanted.device_type)
                back = copy_by_buffer(copy, CPU)
                back.validate(full=True)
                assert back.equals(part)


#: Of these, what a slice leads to may stay whole: see `test_scattered_slices`, and performance.md.
WHOLE = ("view", "dense union", "dictionary", "run-end encoded")


@example("decimal256", 4, [(0.0, 0.0)], True)
@example("deeply nested", 11, [(0.0625, 0.0625)], True)
@given(
    st.sampled_from(sorted(ALL)),
    st.integers(1, 60),
    st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=3),
    st.booleans(),
)
def test_slices_travel_without_the_rest(ctx, name, repeated, slices, is_nested):
    try:
        array = pa.concat_arrays([ALL[name]] * repeated)
    except pa.ArrowNotImplementedError:
        array = ALL[name]
    if is_nested:
        offsets = pa.array(range(0, len(array) + 1, 2), pa.int32())
        lists = pa.ListArray.from_arrays(offsets, array)
        array = pa.StructArray.from_arrays([lists, array[: len(lists)]], ["a", "b"])
    part, there = array, array.copy_to(ctx)
    for first, second in slices:
        start, end = sorted(int(share * len(part)) for share in (first, second))
        part, there = (each.slice(start, end - start) for each in (part, there))
    there_alone = part.copy_to(ctx)
    for copy in (there_alone, there, there.copy_to(ctx), there_alone.copy_to(ctx)):
        back = copy.copy_to(CPU)
        back.validate(full=True)
        assert back.equals(part)
        assert back.null_count == part.null_count
    if not name.endswith(WHOLE):
        own = sum(buffer.size for buffer in buffers_of(pa.concat_arrays([part])))
        for copy in (there_alone, there.copy_to(CPU), there.copy_to(ctx)):
            sizes = {buffer.address: buffer.size for buffer in buffers_of(copy)}
            # Up to seven elements more, where there are bits, of 32 bytes at most.
            assert sum(sizes.values()) <= 1.05 * own + 256 * len(sizes)


def test_arrays_that_share_memory_share_it_there(ctx):
    words, nulls = pa.array(["one", "two", "three"] * 9), pa.array([False, True, False] * 9)
    first = pa.StructArray.from_arrays([words], ["x"], mask=nulls)
    table = pa.table({"a": words, "b": words, "c": first})
    for start in range(9):
        there = table.copy_to(ctx).slice(start, 9).copy_to(ctx).copy_to(CPU)
        there.validate(full=True)
        assert there.equals(table.slice(start, 9))


def test_offsets_that_are_right_may_be_shared_with_others(ctx):
    """One of two slices over the same bytes of the bitmap and the offsets begins later."""
    words = pa.array(["one", None, "two"] * 500).copy_to(ctx)
    for first, second in ((words[:3], words[1:3]), (words[1:3], words[:3])):
        struct = [pa.StructArray.from_arrays([it], ["x"]).slice(0, 2) for it in (first, second)]
        for copy in (pa.chunked_array(struct), pa.chunked_array([first, second])):
            back = copy.copy_to(ctx).copy_to(CPU)
            back.validate(full=True)
            assert back.equals(copy.copy_to(CPU))


def test_numbers_over_offsets_stay(ctx, other_ctx):
    """The ends of lists are a column, too, over the same bytes as their offsets."""
    offsets = pa.array(np.arange(2001, dtype="i4") * 2).copy_to(ctx).buffers()[1]
    values = pa.array(np.arange(4000)).copy_to(ctx)
    lists = pa.ListArray.from_buffers(
        pa.list_(pa.int64()), 2000, [None, offsets], children=[values]
    )
    valid = pa.py_buffer(b"\xff" * 251).copy(ctx.memory_manager)
    ends = pa.Array.from_buffers(pa.int32(), 2000, [valid, offsets], offset=1)
    for names in ("list end", "end list"):
        columns = {"list": lists, "end": ends}
        table = pa.table({name: columns[name] for name in names.split()}).slice(504, 96)
        expected = table.copy_to(CPU)
        assert expected["end"][0].as_py() == 1010
        for copy in (
            table.copy_to(ctx),
            table.copy_to(other_ctx),
            pickle.loads(pickle.dumps(table)),
        ):
            assert copy.copy_to(CPU).equals(expected)


def test_the_first_offset_need_not_be_0(ctx):
    """As in slices that other libraries export."""
    offsets, content = np.arange(10_000, 10_011, dtype="i4"), pa.py_buffer(b"x" * 20_000)
    part = pa.StringArray.from_buffers(10, pa.py_buffer(offsets), content)
    there = part.copy_to(ctx)
    assert [buffer.size for buffer in buffers_of(there)] == [44, 10]
    assert there.copy_to(CPU).equals(part)


@EVERY
def test_so_is_a_copy_of_a_batch(cuda, ctx, other_ctx, name):
    for array in [ALL[name], empty_of(ALL[name].type)]:
        names = ["", "again", "numbers"]
        numbers = pa.array(range(len(array)), pa.int8())
        batch = pa.record_batch([array, array, numbers], names).replace_schema_metadata({"a": "b"})
        there = batch.copy_to(ctx.memory_manager)
        for source in (batch, there):
            for destination in (ctx.memory_manager, other_ctx.memory_manager, CPU):
                copy, wanted = source.copy_to(destination), copy_by_buffer(source, destination)
                assert copy.schema.equals(wanted.schema, check_metadata=True)
                assert (copy.num_rows, copy.device_type) == (wanted.num_rows, wanted.device_type)
                for column, same in zip(copy.columns, wanted.columns, strict=True):
                    assert layout_of(cuda, column) == layout_of(cuda, same)
        back = there.copy_to(CPU)
        back.validate(full=True)
        assert back.equals(batch)


def names_of(columns):
    return [f"{number}" for number in range(len(columns))]


WIDE = pa.record_batch({f"{number}": [number, None] for number in range(500)})
CHUNKS = pa.table(
    {f"{column}": pa.chunked_array([[row, None] for row in range(40)]) for column in range(10)}
)


@pytest.mark.simulator
@pytest.mark.parametrize("data", [WIDE, CHUNKS], ids=["a wide batch", "a table of chunks"])
def test_hundreds_of_parts_are_one_allocation_and_one_copy(ctx, calls, data):
    up = (b"cuMemAlloc", b"cuMemcpyHtoDAsync")
    there, made = calls(lambda: data.copy_to(ctx.memory_manager), *up)
    assert made in ([1, 1], [0, 1])
    back, made = calls(lambda: there.copy_to(CPU), b"cuMemcpyDtoH")
    assert made == [1]
    assert back.equals(data)
    again, made = calls(lambda: there.copy_to(ctx.device), b"cuMemAlloc", b"cuMemcpyDtoD")
    assert made in ([1, 1], [0, 1])
    assert again.copy_to(CPU).equals(data)


def numbered(count, values=1):
    """A batch of columns that differ."""
    columns = [pa.array(range(number, number + values)) for number in range(count)]
    return pa.record_batch(columns, names_of(columns))


@pytest.mark.simulator
def test_no_call_of_the_driver_is_made_for_a_column(ctx, calls):
    def of(batch):
        there = batch.copy_to(ctx.memory_manager)
        ways = (ctx.memory_manager, batch), (CPU, there), (ctx.memory_manager, there)
        return [
            calls(lambda to=to, data=data: len(data.copy_to(to)), b"*")[1][0] for to, data in ways
        ]

    few, many = of(numbered(10)), of(numbered(1000))
    # Released memory may be asked about now and then.
    assert all(more < less + 40 for less, more in zip(few, many, strict=True)), (few, many)


@pytest.mark.simulator
def test_columns_of_a_message_come_back_together(cuda, ctx, calls):
    batch = numbered(200, values=9)
    there = cuda.read_record_batch(cuda.serialize_record_batch(batch, ctx), batch.schema)
    back, made = calls(lambda: there.copy_to(CPU), b"cuMemcpyDtoH")
    assert made == [1]
    assert back.equals(batch)


SHARED = pa.array(range(1000))
PARTS = pa.chunked_array([SHARED.slice(start, 100) for start in range(0, 1000, 100)])


@pytest.mark.parametrize(
    "data",
    [
        pa.record_batch([SHARED] * 50, names_of(range(50))),
        pa.table({"a": PARTS, "b": PARTS}),
    ],
    ids=["the same columns", "parts of one array"],
)
def test_memory_that_parts_share_is_copied_once(ctx, allocated, data):
    there = data.copy_to(ctx.memory_manager)
    assert allocated() == 8000
    back = there.copy_to(CPU)
    assert back.equals(data)
    assert len(distinct_buffers(chunks_of(there))) == len(distinct_buffers(chunks_of(back))) == 1


def test_a_dictionary_that_columns_share_is_copied_once(ctx):
    words = pa.array(["one", "two"])
    columns = [pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int8()), words) for _ in range(9)]
    struct = pa.StructArray.from_arrays(columns, names_of(columns))
    there = struct.copy_to(ctx.memory_manager)
    back = there.copy_to(CPU)
    assert back.equals(struct)
    of_dictionary = [distinct_buffers([each.field(0).dictionary]) for each in (there, back)]
    for copy, shared in zip((there, back), of_dictionary, strict=True):
        assert all(distinct_buffers([copy.field(n).dictionary]) == shared for n in range(9))


def test_columns_of_many_sizes_and_by_several_threads(ctx):
    sizes = [0, 1, 3, 100, 70_000, 1_000_000, 5, 300_001, 0, 33_333, 33_333]
    columns = [pa.ListArray.from_arrays([0, size], np.arange(size) % 100) for size in sizes]
    batch = pa.record_batch(columns, names_of(columns))
    for threads in (0, 1, 3):
        set_transfer_limits(threads=threads, begin_after=0)
        for _ in range(5):
            there = batch.copy_to(ctx.memory_manager)
            assert there.copy_to(CPU).equals(batch)
            assert there.copy_to(ctx.device).copy_to(CPU).equals(batch)


def test_ten_thousand_columns(ctx):
    batch = numbered(10_000)
    assert batch.copy_to(ctx.memory_manager).copy_to(CPU).equals(batch)


def test_a_column_that_outlives_its_batch_keeps_little_more_than_itself(ctx):
    batch, pool = numbered(1000, values=100), pa.default_memory_pool()
    gc.collect()
    on_device, on_host = ctx.bytes_allocated, pool.bytes_allocated()
    there = batch.copy_to(ctx.memory_manager)
    back = there.copy_to(CPU)
    column, column_there = back.column(500), there.column(500)
    del back, there
    assert pool.bytes_allocated() - on_host == 832  # 800 bytes, padded
    assert ctx.bytes_allocated - on_device < 512 << 10
    assert column.equals(batch.column(500))
    assert column_there.copy_to(CPU).equals(column)
    del column, column_there
    wait_for_release(ctx, on_device)
    assert pool.bytes_allocated() == on_host


@pytest.mark.parametrize("count", [1, 2, 63, 64, 65, 129])
def test_columns_are_released_in_any_order(ctx, count):
    batch, pool = numbered(count), pa.default_memory_pool()
    gc.collect()
    on_device, on_host = ctx.bytes_allocated, pool.bytes_allocated()
    there = batch.copy_to(ctx.memory_manager)
    columns = list(enumerate(there.columns)) + list(enumerate(there.copy_to(CPU).columns))
    del there
    random.Random(count).shuffle(columns)
    while columns:
        for number, column in random.Random(len(columns)).sample(columns, min(3, len(columns))):
            assert column.copy_to(CPU).to_pylist() == [number]
        del column
        columns.pop()
    wait_for_release(ctx, on_device)
    assert pool.bytes_allocated() == on_host


def test_copies_on_the_host_are_aligned_and_padded_with_zeros(ctx):
    """So that others may read whole words, and see nothing of what lay there before."""
    sizes = [1, 7, 63, 64, 65, 1000]
    for _ in range(5):
        residue = [pa.allocate_buffer(64 * (size // 64 + 1)) for size in sizes for _ in range(20)]
        for buffer in residue:
            ctypes.memset(buffer.address, 0xEE, buffer.size)
        del residue, buffer
        columns = [pa.ListArray.from_arrays([0, size], np.full(size, 5, np.int8)) for size in sizes]
        batch = pa.record_batch(columns, list(map(str, sizes)))
        back = batch.copy_to(ctx.memory_manager).copy_to(CPU)
        for size, column in zip(sizes, back.columns, strict=True):
            (values,) = [buffer for buffer in column.values.buffers() if buffer is not None]
            assert values.address % 64 == 0
            assert values.is_mutable
            padding = ctypes.string_at(values.address + size, -size % 64)
            assert padding == bytes(len(padding))


@pytest.mark.parametrize("make", [pa.record_batch, pa.table])
@pytest.mark.parametrize("rows", [0, 5])
def test_rows_without_columns(ctx, make, rows):
    there = make({"a": range(rows)}).select([]).copy_to(ctx.memory_manager)
    assert (there.num_columns, there.num_rows) == (0, rows)
    assert there.copy_to(CPU).num_rows == rows


def test_data_on_the_host_and_several_devices(ctx, other_ctx):
    """Each array is copied from where it lies."""
    words = pa.array(["x", None, "yy"])
    parts = [words, words.copy_to(ctx.device), words.copy_to(other_ctx.device)]
    batch = pa.record_batch(parts, ["host", "device", "other"])
    table = pa.table({"mixed": pa.chunked_array(parts), "host": pa.chunked_array([words] * 3)})
    for destination in (CPU, ctx.device, other_ctx.memory_manager):
        for data in (batch, table):
            for chunk in chunks_of(data.copy_to(destination)):
                device = getattr(destination, "device", destination)
                assert all(buffer.device == device for buffer in buffers_of(chunk))
                assert chunk.copy_to(CPU).equals(words)


def test_columns_in_pinned_memory_and_in_memory_of_others(cuda, ctx):
    pinned = pinned_of(cuda, np.arange(10).tobytes())
    theirs = ctx.buffer_from_data(np.arange(10))
    foreign = ctx.foreign_buffer(theirs.address, theirs.size, base=theirs)
    columns = [pa.Array.from_buffers(pa.int64(), 10, [None, each]) for each in (pinned, foreign)]
    batch = pa.record_batch([*columns, pa.array(range(10))], ["pinned", "foreign", "host"])
    expected = pa.array(range(10))
    for destination in (CPU, ctx.device):
        for column in batch.copy_to(destination).columns:
            assert column.copy_to(CPU).equals(expected)
