"""Tables, chunked arrays and readers go to a device and back, with all of their chunks at once."""

import pyarrow as pa
import pytest

from support.samples import (
    ALL,
    CPU,
    buffers_of,
    chunks_of,
    distinct_buffers,
    empty_of,
    wait_for_release,
    written,
)

EVERY = pytest.mark.parametrize("name", ALL)
TABLE = pa.table(
    {
        "numbers": pa.chunked_array([[1, None], [], [3]], pa.int64()),
        "words": pa.chunked_array([["one", None, "three"]]),
        "lists": pa.chunked_array([[[1, 2]], [None, []]]),
        "none": pa.chunked_array([pa.nulls(3)]),
    }
).replace_schema_metadata({"a": "b"})


def layout_of(table):
    return [[len(chunk) for chunk in column.chunks] for column in table.columns]


@EVERY
def test_chunks_of_every_type_come_back(ctx, other_ctx, name):
    array = ALL[name]
    chunks = [array.slice(1), empty_of(array.type), array, array.slice(0, 2)]
    column = pa.chunked_array(chunks, array.type)
    there = column.copy_to(ctx.device)
    assert there.type == column.type
    for chunk in there.chunks:
        assert all(buffer.device == ctx.device for buffer in buffers_of(chunk))
    for hop in (there, there.copy_to(other_ctx.memory_manager), there.copy_to(ctx.device)):
        back = hop.copy_to(CPU)
        back.validate(full=True)
        assert back.equals(column)
        assert [len(chunk) for chunk in back.chunks] == [len(chunk) for chunk in chunks]
    table = pa.table([column, column], ["a", "b"])
    back = table.copy_to(ctx.device).copy_to(CPU.device)
    back.validate(full=True)
    assert back.equals(table)


def test_memory_that_chunks_share_by_other_objects_is_copied_once(ctx):
    """As the dictionary of chunks that another library has exported one by one."""
    words = pa.array([f"a word of some length, number {number}" for number in range(100)])
    chunks = [pa.DictionaryArray.from_arrays(pa.array([n], pa.int8()), words) for n in range(20)]
    exported = [chunk.__arrow_c_array__() for chunk in chunks]
    column = pa.chunked_array([pa.Array._import_from_c_capsule(*each) for each in exported])
    assert len(distinct_buffers(chunk.dictionary for chunk in column.chunks)) == 2
    before = ctx.bytes_allocated
    there = column.copy_to(ctx.device)
    assert ctx.bytes_allocated - before <= words.nbytes + 22 * 256  # with padding
    assert len(distinct_buffers(chunk.dictionary for chunk in there.chunks)) == 2
    assert there.copy_to(CPU).equals(column)


@pytest.mark.parametrize("empties", [1, 3000])
def test_buffers_without_bytes_stay_apart(ctx, empties):
    column = pa.chunked_array([pa.array([], pa.string())] * empties + [["a"]])
    assert column.copy_to(ctx.device).copy_to(CPU).equals(column)


def test_tables_and_chunked_arrays_without_rows(ctx):
    schema = pa.schema([("a", pa.int8()), ("b", pa.list_(pa.string()))])
    for table in (schema.empty_table(), pa.Table.from_batches([], schema)):
        there = table.copy_to(ctx.memory_manager)
        assert there.copy_to(CPU).equals(table)
        assert layout_of(there) == layout_of(table)
    nothing = pa.chunked_array([], pa.string())
    assert nothing.copy_to(ctx.device).equals(nothing)


def test_a_copy_on_the_host_is_a_copy(ctx):
    copy = TABLE.copy_to(CPU)
    assert copy.equals(TABLE, check_metadata=True)
    assert not distinct_buffers(chunks_of(copy)) & distinct_buffers(chunks_of(TABLE))


def test_nulls_of_sliced_chunks_are_counted_before_the_copy(ctx):
    column = pa.chunked_array([pa.array([1, None, 3, None]).slice(1)])
    assert pa.table({"a": column.copy_to(ctx.device)}).copy_to(CPU).column(0).null_count == 2


@pytest.mark.parametrize(
    "destination", [pa.DeviceAllocationType.CPU, None, 1.0, b"cpu", pa.Device, object()]
)
def test_what_is_no_destination(destination):
    reader = TABLE.to_reader()
    for data in (TABLE, TABLE.column(0), reader, pa.array([1]), pa.record_batch({"a": [1]})):
        with pytest.raises(TypeError, match="expected a pyarrow Device or MemoryManager"):
            data.copy_to(destination)


@pytest.mark.parametrize("cls", [pa.Table, pa.ChunkedArray])
def test_objects_that_were_never_initialised(ctx, cls):
    empty = cls.__new__(cls)
    for source, destination in (
        (empty, ctx.device),
        (pa.RecordBatchReader.__new__(pa.RecordBatchReader), ctx.device),
        (TABLE, pa.Device.__new__(pa.Device)),
        (TABLE, pa.MemoryManager.__new__(pa.MemoryManager)),
    ):
        with pytest.raises(TypeError, match="initialised"):
            type(source).copy_to(source, destination)
    for other in (1, pa.array([1]), TABLE, None):
        if not isinstance(other, cls):
            with pytest.raises(TypeError):
                cls.copy_to(other, ctx.device)


def test_a_table_is_released_with_its_last_chunk(ctx):
    before = ctx.bytes_allocated
    there = TABLE.copy_to(ctx.memory_manager)
    chunk = there.column("numbers").chunk(2)
    del there
    assert chunk.copy_to(CPU).to_pylist() == [3]
    del chunk
    wait_for_release(ctx, before)


def test_batches_of_a_table_know_where_they_lie(cuda, ctx):
    there = TABLE.copy_to(ctx.device)
    batches = there.to_batches()
    assert [batch.num_rows for batch in batches] == [batch.num_rows for batch in TABLE.to_batches()]
    for batch in [*batches, *there.to_batches(max_chunksize=1), *there.to_reader(1)]:
        assert (batch.is_cpu, batch.device_type) == (False, pa.DeviceAllocationType.CUDA)
        with pytest.raises(NotImplementedError):
            batch.to_pylist()
    back = pa.Table.from_batches([batch.copy_to(CPU) for batch in batches])
    assert back.equals(TABLE)
    whole = pa.Table.from_batches(batches)
    assert not whole.is_cpu
    assert whole.copy_to(CPU).equals(TABLE)
    reader = pa.RecordBatchReader.from_batches(there.schema, batches)
    assert not any(batch.is_cpu for batch in reader)
    assert there.schema.equals(batches[0].schema, check_metadata=True)


def test_so_do_batches_with_a_part_on_the_host(ctx):
    numbers = pa.array([1, 2])
    table = pa.table({"host": numbers, "device": numbers.copy_to(ctx.device)})
    assert not any(batch.is_cpu for batch in [*table.to_batches(), *table.to_reader()])


def test_batches_on_the_host_stay_as_they_are(cuda):
    pinned = cuda.new_host_buffer(16)
    column = pa.Array.from_buffers(pa.int64(), 2, [None, pinned], null_count=0)
    for table in (TABLE, pa.table({"pinned": column})):
        batches = table.to_batches()
        assert all(batch.is_cpu for batch in [*batches, *table.to_reader()])
        assert sum(batch.num_rows for batch in batches) == table.num_rows


@pytest.mark.parametrize("form", ["stream", "file"])
def test_batches_read_from_device_memory_know_where_they_lie(cuda, ctx, form):
    before = ctx.bytes_allocated
    data = written(TABLE.to_batches(), pa.ipc.new_stream if form == "stream" else pa.ipc.new_file)
    source = cuda.BufferReader(ctx.buffer_from_data(data))
    if form == "file":
        reader = pa.ipc.open_file(source)
        batches = [reader.get_batch(number) for number in range(reader.num_record_batches)]
        batches.append(reader.get_batch_with_custom_metadata(0).batch)
        batches.append(reader.get_record_batch(0))
    else:
        reader = pa.ipc.open_stream(source)
        batches = [reader.read_next_batch_with_custom_metadata().batch, *reader]
    assert len(batches) > 1
    for batch in batches:
        assert not batch.is_cpu
        with pytest.raises(NotImplementedError):
            batch.validate(full=True)
    assert batches[0].copy_to(CPU).equals(TABLE.to_batches()[0])
    del source, reader, batches, batch
    wait_for_release(ctx, before)


def test_nulls_of_slices_are_counted_before_batches_become_a_table(ctx):
    """Within a table, libarrow would count them on the host."""
    batch = pa.record_batch({"a": [1, None, 3, None], "s": ["x", None, None, "y"]})
    schema, expected = batch.schema, pa.Table.from_batches([batch.slice(1), batch.slice(0, 2)])

    def slices():
        there = batch.copy_to(ctx.device)
        return [there.slice(1), there.slice(0, 2)]

    tables = [
        pa.Table.from_batches(slices()),
        pa.Table.from_batches(iter(slices()), schema=schema),
        pa.RecordBatchReader.from_batches(schema, slices()).read_all(),
    ]
    tables.append(tables[0].to_reader().read_all())
    tables.append(tables[0].to_reader(max_chunksize=1).read_all())
    tables.append(pa.Table.from_batches(tables[0].to_batches(max_chunksize=1)))
    for table in tables:
        assert table.copy_to(CPU).equals(expected)


def test_what_are_no_batches_is_refused_as_ever():
    schema = pa.schema([("a", pa.int64())])
    for batches in (1, [1], [None], [pa.array([1])]):
        with pytest.raises((TypeError, AttributeError)):
            pa.Table.from_batches(batches, schema)
        with pytest.raises((TypeError, AttributeError)):
            pa.RecordBatchReader.from_batches(schema, batches).read_all()
    with pytest.raises(ValueError, match="schema"):
        pa.Table.from_batches([])
