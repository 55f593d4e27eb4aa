"""Pickles and copies of arrays, record batches and tables that lie on a device."""

import copy
import pickle

import numpy as np
import pyarrow as pa
import pytest

from support.pickles import EVERY_WAY, in_band
from support.samples import ALL, ARRAYS, CPU, buffers_of, chunks_of, empty_of, shapes
from support.streams import pinned_of


@EVERY_WAY
@pytest.mark.parametrize("name", ALL)
def test_batches_tables_and_arrays(ctx, way, name):
    for array in shapes(ALL[name]):
        there = array.copy_to(ctx.memory_manager)
        schema = pa.schema(
            [pa.field("a", array.type, metadata={"k": "v"}), ("b", array.type)], {"of": "schema"}
        )
        batch = pa.record_batch([there, there], schema=schema)
        back = way(batch)
        assert back.schema.equals(schema, check_metadata=True)
        assert (back.num_rows, back.device_type) == (len(array), batch.device_type)
        for column in back.columns:
            assert all(buffer.device == ctx.device for buffer in buffers_of(column))
            copied = column.copy_to(CPU)
            copied.validate(full=True)
            assert copied.equals(array)
            assert (column.offset, type(column)) == (there.offset, type(there))
        back = way(there)
        assert (back.copy_to(CPU).equals(array), type(back)) == (True, type(array))
        assert all(buffer.device == ctx.device for buffer in buffers_of(back))
    there = ALL[name].copy_to(ctx.memory_manager)
    column = pa.chunked_array([there, there])
    assert [chunk.copy_to(CPU) for chunk in way(column).chunks] == [ALL[name]] * 2
    table = pa.table([column, column], schema=schema)
    back = way(table)
    assert back.schema.equals(schema, check_metadata=True)
    assert (back.is_cpu, back.num_rows) == (table.is_cpu, table.num_rows)
    for column in back.columns:
        assert [chunk.copy_to(CPU) for chunk in column.chunks] == [ALL[name]] * 2


def _struct(first):
    return pa.StructArray.from_arrays([first, pa.array(["a", "bbbb"])], ["first", "second"])


#: Arrays whose first part has no memory, so that libarrow takes them for the host's.
BARE = {
    "null first": _struct(pa.nulls(2)),
    "fixed list of none first": _struct(pa.array([[], []], pa.list_(pa.int8(), 0))),
    "binary of no width first": _struct(pa.array([b"", b""], pa.binary(0))),
    "empty strings first": _struct(pa.array(["", ""])),
    "no rows": ARRAYS["struct"][:0],
    "no views": ARRAYS["string_view"][:0],
    "no list views": ARRAYS["list view"][:0],
    "no runs": ARRAYS["run-end encoded"][:0],
    "no union": ARRAYS["sparse union"][:0],
}
EMPTY = {
    **{f"no {name}": empty_of(array.type) for name, array in ALL.items()},
    **{f"nulls of {name}": pa.nulls(2, array.type) for name, array in ALL.items()},
    **{f"empty {type}": pa.array(["", ""], type) for type in (pa.string(), pa.large_string())},
    "no json": pa.array([], pa.json_()),
}


def where_it_lies(array):
    buffers = array.buffers()
    return [buffer if buffer is None else (buffer.device, buffer.size) for buffer in buffers]


def check_round_trip(way, value, expected):
    back = way(value)
    assert type(back) is type(value)
    for chunk, before in zip(chunks_of(back), chunks_of(value), strict=True):
        copied = chunk.copy_to(CPU)
        copied.validate(full=True)
        assert copied.equals(expected)
        # Bitmaps without nulls are left out, as pyarrow does on the host.
        for there, here in zip(where_it_lies(chunk), where_it_lies(before), strict=True):
            assert there in (here, None)
    if isinstance(value, pa.RecordBatch | pa.Table):
        assert back.schema.equals(value.schema)


@EVERY_WAY
@pytest.mark.parametrize("name", [*BARE, *EMPTY])
def test_arrays_without_memory_in_places(cuda, ctx, way, name):
    array = (BARE | EMPTY)[name]
    batch = pa.record_batch([array], ["c"])
    copied = batch.copy_to(ctx)
    values = [copied, array.copy_to(ctx), pa.chunked_array([copied.column(0)])]
    values.append(pa.Table.from_batches([copied, copied]))
    if not isinstance(array, pa.DictionaryArray):
        read = cuda.read_record_batch(cuda.serialize_record_batch(batch, ctx), batch.schema)
        values += [read, read.column(0), pa.Table.from_batches([read])]
        values.append(pa.chunked_array(read.columns * 2))
    for value in values:
        check_round_trip(way, value, array)


@EVERY_WAY
def test_imported_empty_strings(ctx, way):
    for strings in (["", ""], []):
        array = pa.array(strings, pa.string())
        there = pa.record_batch({"c": array}).copy_to(ctx.memory_manager)
        imported = pa.RecordBatch._import_from_c_device_capsule(*there.__arrow_c_device_array__())
        check_round_trip(way, imported, array)
        check_round_trip(way, imported.column(0), array)


@EVERY_WAY
def test_memory_of_arrays_is_their_own(ctx, allocated, way):
    batch = pa.record_batch({"x": range(1000)}).copy_to(ctx.memory_manager)
    size = allocated()
    back = way(batch)
    # Arrow's arrays do not change, so a shallow copy shares their memory.
    expected = size if way is copy.copy else 2 * size
    assert allocated() == expected
    del batch
    assert back.copy_to(CPU).equals(pa.record_batch({"x": range(1000)}))


def test_shared_memory_travels_once(ctx, allocated):
    array = pa.array(range(1000)).copy_to(ctx.memory_manager)
    size = allocated()
    batch = pa.record_batch([array, array], list("ab"))
    buffers = []
    pickled = pickle.dumps(batch, 5, buffer_callback=buffers.append)
    assert sum(len(buffer.raw()) for buffer in buffers) == 8000
    back = pickle.loads(pickled, buffers=buffers)
    assert allocated() == 2 * size
    assert back.column(0).buffers()[1].address == back.column(1).buffers()[1].address


def test_batches_that_call_themselves_host_batches(cuda, ctx):
    batch = pa.record_batch({"x": [1, None, 3]})
    message = pa.ipc.read_message(cuda.BufferReader(cuda.serialize_record_batch(batch, ctx)))
    read = pa.ipc.read_record_batch(message, batch.schema)
    assert read.column(0).buffers()[1].device == ctx.device
    back = in_band(read)
    assert back.column(0).buffers()[1].device == ctx.device
    assert back.copy_to(CPU).equals(batch)


def test_arrays_over_pinned_memory_arrive_on_the_host(cuda, ctx):
    content = np.arange(2, dtype=np.int64).tobytes()
    pinned = pinned_of(cuda, content)
    array = pa.Array.from_buffers(pa.int64(), 2, [None, pinned])
    host, there = in_band(pa.record_batch([array, array.copy_to(ctx)], ["host", "device"]))
    assert host.to_pylist() == there.copy_to(CPU).to_pylist() == [0, 1]
    assert not there.is_cpu
    assert in_band(pinned).to_pybytes() == content
