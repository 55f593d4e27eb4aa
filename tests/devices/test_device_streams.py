"""Streams of the C Device interface: tables, readers and chunked arrays, out and in."""

import ctypes
import errno
import gc

import pyarrow as pa
import pytest
from nanoarrow import device as nanoarrow_device

from support.c_device import CPU as HOST
from support.c_device import (
    CUDA,
    ArrowDeviceArrayStream,
    Exported,
    Made,
    MadeStream,
    Release,
    array_of,
    made_array,
    only_stream,
    stream_structure,
)
from support.samples import ALL, CPU, Point, buffers_of, empty_of, wait_for_release
from support.threads import in_thread

TABLE = pa.table(
    {
        "numbers": pa.chunked_array([[1, None], [3]]),
        "words": pa.chunked_array([["one"], [None, "three"]]),
    }
)
SCHEMA = TABLE.schema


@pytest.fixture(autouse=True)
def extension():
    """A consumer knows an extension type by its name, or takes its storage."""
    pa.register_extension_type(Point())
    yield
    pa.unregister_extension_type("tests.point")


def imported(data):
    return pa.RecordBatchReader.from_stream(data)


def arrays_of(stream):
    """The arrays of a stream's structure, each of which is released before the next one."""
    while True:
        code, array = stream.next()
        assert code == 0
        if not array.array.release:
            return
        yield array
        array.release()


def column_of(capsule):
    return pa.ChunkedArray._import_from_c_device_capsule(capsule)


def reader_of(capsule):
    return pa.RecordBatchReader._import_from_c_device_capsule(capsule)


def first_of(made):
    reader = imported(made)  # which outlives the call: the stream calls Python when it is released
    return reader.read_next_batch()


@pytest.mark.parametrize("name", ALL)
def test_tables_of_every_type(ctx, name):
    array = ALL[name]
    chunks = [array.slice(1), empty_of(array.type), array, array.slice(0, 2)]
    column = pa.chunked_array(chunks, array.type)
    table = pa.table([column, column], ["a", "b"]).replace_schema_metadata({"k": "v"})
    there = table.copy_to(ctx.device)
    addresses = {buffer.address for chunk in there.column(0).chunks for buffer in buffers_of(chunk)}
    for data in (there, there.to_reader(), only_stream(there)):
        reader = imported(data)
        assert reader.schema.equals(table.schema, check_metadata=True)
        back = reader.read_all()
        for chunk in back.column(0).chunks:
            for buffer in buffers_of(chunk):
                assert buffer.device == ctx.device
                assert buffer.size <= 8 or buffer.address in addresses
        result = back.copy_to(CPU)
        result.validate(full=True)
        assert result.equals(table)


@pytest.mark.parametrize("name", ALL)
def test_chunked_arrays_of_every_type(ctx, name):
    array = ALL[name]
    chunks = [empty_of(array.type), array.slice(1), array]
    column = pa.chunked_array(chunks, array.type)
    for there in (column.copy_to(ctx.device), column):
        back = column_of(there.__arrow_c_device_stream__())
        assert [len(chunk) for chunk in back.chunks] == [len(chunk) for chunk in chunks]
        assert back.type == column.type
        assert back.copy_to(CPU).equals(column)


def test_data_on_the_host(ctx):
    for data in (only_stream(TABLE), TABLE, TABLE.to_reader(), TABLE.to_batches()[0]):
        assert imported(data).read_all().num_rows > 0
    structure = stream_structure(capsule := TABLE.__arrow_c_device_stream__())
    assert structure.device_type == HOST
    assert reader_of(capsule).read_all().equals(TABLE)


def test_nothing_to_read(ctx):
    for table in (SCHEMA.empty_table(), pa.table({}), TABLE.select([]), TABLE.slice(0, 0)):
        reader = imported(only_stream(table.copy_to(ctx.device)))
        assert reader.schema.equals(table.schema)
        assert reader.read_all().num_rows == table.num_rows
    nothing = pa.RecordBatchReader.from_batches(SCHEMA, [])
    assert imported(nothing).read_all().equals(SCHEMA.empty_table())
    empty = pa.chunked_array([], pa.string())
    assert column_of(empty.__arrow_c_device_stream__()).equals(empty)


def test_empty_batches_before_the_device_is_known(ctx):
    """They are on the stream's device, wherever they say that they are."""
    empty, full = SCHEMA.empty_table().to_batches(), TABLE.copy_to(ctx.device).to_batches()
    host = pa.record_batch([pa.array([], type) for type in SCHEMA.types], schema=SCHEMA)
    batches = [host, host, *empty, *full, host]
    reader = pa.RecordBatchReader.from_batches(SCHEMA, batches)
    structure = stream_structure(capsule := reader.__arrow_c_device_stream__())
    assert structure.device_type == CUDA
    places = [(each.device_type, each.device_id, *each.reserved) for each in arrays_of(structure)]
    assert places == [(CUDA, 0, 0, 0, 0)] * len(batches)
    del capsule


def test_a_consumer_walks_the_structure(ctx):
    """As cuDF does: on a thread of its own, without Python's lock."""
    there = TABLE.copy_to(ctx.device)
    capsule = there.__arrow_c_device_stream__()
    moved = ArrowDeviceArrayStream.from_buffer_copy(stream_structure(capsule))
    stream_structure(capsule).release = None
    before = ctx.bytes_allocated
    del capsule, there
    seen = []

    def walk():
        code, schema = moved.schema()
        seen.append((code, schema.format, schema.n_children))
        Release(schema.release)(schema.address)
        for each in arrays_of(moved):
            seen.append((each.array.length, each.device_id, each.array.n_children))
        moved.close()

    in_thread(walk)
    assert seen == [(0, b"+s", 2)] + [(1, 0, 2)] * 3
    assert not moved.release
    gc.collect()
    wait_for_release(ctx, 0 if before == 0 else ctx.bytes_allocated)


def test_what_nobody_takes_is_released(ctx):
    before = ctx.bytes_allocated
    there = TABLE.copy_to(ctx.device)
    for data in (there, there.to_reader(), there.column(1)):
        capsule = data.__arrow_c_device_stream__()
        del data, capsule
    reader = imported(there)
    reader.read_next_batch()
    del there, reader
    wait_for_release(ctx, before)


def test_pending_work_has_an_event(ctx, driver, default_stream):
    memory, column = array_of(ctx)
    table = pa.table({"a": pa.chunked_array([column, column])})
    structure = stream_structure(capsule := table.__arrow_c_device_stream__())
    default_stream.sleep()
    default_stream.fill(memory, 7)
    code, array = structure.next()
    assert (code, default_stream.is_idle()) == (0, False)
    driver.call("cuEventSynchronize", array.event)
    assert driver.read(memory.address, memory.size) == b"\x07" * 1000
    array.release()
    del capsule
    default_stream.sleep()
    default_stream.fill(memory, 8)
    batch = imported(table).read_next_batch()
    assert not default_stream.is_idle()
    assert batch.copy_to(CPU).column(0).to_pylist() == [8] * 1000


def test_a_stream_has_one_device(ctx, other_ctx):
    words = pa.array(["x", "y"])
    here, there = words.copy_to(ctx.device), words.copy_to(other_ctx.device)
    for second, place in ((there, "CUDA device 1"), (words, "the host")):
        table = pa.table({"a": pa.chunked_array([here, second])})
        for data in (only_stream(table), table.to_reader()):
            reader = imported(data)
            assert reader.read_next_batch().num_rows == 2
            with pytest.raises(pa.ArrowInvalid, match=f"array 1 .* lies on {place}.*one device"):
                reader.read_next_batch()
        with pytest.raises(pa.ArrowInvalid, match=f"lies on {place}"):
            column_of(table.column(0).__arrow_c_device_stream__())
        assert imported(table.copy_to(other_ctx.device)).read_all().num_rows == 4
    table = pa.table({"a": here, "b": there})
    with pytest.raises(pa.ArrowInvalid, match="part on CUDA device 1: copy_to"):
        table.__arrow_c_device_stream__()


def test_what_a_reader_raises(ctx):
    def breaks(count):
        def batches():
            yield from TABLE.copy_to(ctx.device).to_batches()[:count]
            raise RuntimeError("broken here")

        return pa.RecordBatchReader.from_batches(SCHEMA, batches())

    with pytest.raises(RuntimeError, match="broken here"):
        breaks(0).__arrow_c_device_stream__()
    taken = imported(breaks(1))
    assert taken.read_next_batch().num_rows == 1
    with pytest.raises((pa.ArrowInvalid, OSError), match="broken here"):
        taken.read_next_batch()


def test_requested_schemas(ctx):
    other = pa.schema([("numbers", pa.int8()), ("words", pa.large_string())])
    for data in (TABLE, TABLE.to_reader(), TABLE.to_batches()[0]):
        reader = reader_of(data.__arrow_c_device_stream__(other.__arrow_c_schema__()))
        assert reader.schema.equals(other)
        assert reader.read_all().schema.equals(other)
    assert pa.RecordBatchReader.from_stream(only_stream(TABLE), schema=other).schema.equals(other)
    there = TABLE.copy_to(ctx.device)
    for data in (there, there.to_reader(), there.to_batches()[0]):
        with pytest.raises(NotImplementedError, match="only supported for CPU data"):
            data.__arrow_c_device_stream__(other.__arrow_c_schema__())
    assert there.__arrow_c_device_stream__(SCHEMA.__arrow_c_schema__())
    column = TABLE.column(0).__arrow_c_device_stream__(pa.int8().__arrow_c_schema__())
    assert column_of(column).type == pa.int8()
    with pytest.raises(NotImplementedError, match="unsupported keyword"):
        TABLE.__arrow_c_device_stream__(later=1)
    assert TABLE.__arrow_c_device_stream__(later=None)


def test_streams_made_by_hand(ctx):
    batches = TABLE.copy_to(ctx.device).to_batches()
    made = MadeStream(SCHEMA, batches)
    reader = imported(made)
    assert (reader.schema, made.released) == (SCHEMA, 0)
    first = reader.read_next_batch()
    assert not first.is_cpu
    rest = reader.read_all()
    assert rest.num_rows == 2
    with pytest.raises(StopIteration):
        reader.read_next_batch()
    reader.close()
    assert made.released == 1
    with pytest.raises(pa.ArrowInvalid, match="closed"):
        reader.read_next_batch()
    del reader
    gc.collect()
    assert made.released == 1
    assert first.copy_to(CPU).equals(TABLE.to_batches()[0])


def test_nulls_and_empty_buffers_of_streams_made_by_hand(ctx):
    """libarrow would count the first on the host, and puts the others there."""
    bitmap, values = ctx.buffer_from_data(b"\x05"), ctx.buffer_from_data(bytes(8))
    column = made_array(8, [bitmap.address, values.address], null_count=-1)
    schema = pa.schema([("a", pa.int8())])
    exported = Made(schema, made_array(8, [None], [column]), owner=(bitmap, values))
    table = imported(MadeStream(schema, [exported])).read_all()
    assert table.copy_to(CPU).column(0).null_count == 6


@pytest.mark.parametrize("where", ["schema", "next"])
@pytest.mark.parametrize("text", [b"", b"what went wrong"])
def test_errors_of_streams_made_by_hand(ctx, where, text):
    kinds = {errno.EINVAL: pa.ArrowInvalid, errno.ENOMEM: MemoryError, errno.EIO: OSError}
    kinds |= {errno.ENOSYS: NotImplementedError, 9999: OSError}
    for code, kind in kinds.items():
        schema, items = (code, []) if where == "schema" else (SCHEMA, [code])
        made = MadeStream(schema, items, text=text)
        with pytest.raises(kind, match=text.decode() or None):
            first_of(made)
        gc.collect()
        assert made.released == 1


def test_streams_made_by_hand_of_several_devices(ctx, other_ctx):
    batch = TABLE.to_batches()[0]
    there, elsewhere = batch.copy_to(ctx.device), batch.copy_to(other_ctx.device)
    for second, device_type in ((elsewhere, CUDA), (batch, CUDA), (there, HOST)):
        items = [batch if device_type == HOST else there, second]
        made = MadeStream(SCHEMA, items, device_type=device_type)
        reader = imported(made)
        assert reader.read_next_batch().num_rows == 1
        with pytest.raises(pa.ArrowInvalid, match=r"one device|another type of device"):
            reader.read_next_batch()
        del reader
        gc.collect()
        assert made.released == 1


def test_released_streams_and_those_without_functions(ctx):
    made = MadeStream(SCHEMA, [], release=None)
    with pytest.raises(pa.ArrowInvalid, match="released ArrowDeviceArrayStream"):
        imported(made)
    for name in ("get_schema", "get_next"):
        made = MadeStream(SCHEMA, [], **{name: None})
        with pytest.raises(pa.ArrowInvalid, match="lacks functions"):
            imported(made)
        assert made.released == 1
    made = MadeStream(SCHEMA, [errno.EINVAL], get_last_error=None)
    with pytest.raises(pa.ArrowInvalid):
        first_of(made)
    capsule = TABLE.copy_to(ctx.device).__arrow_c_device_stream__()
    assert reader_of(capsule).read_all().num_rows == 3
    for take in (reader_of, column_of):
        with pytest.raises(pa.ArrowInvalid, match="released"):
            take(capsule)


def test_arrays_that_do_not_fit_the_schema(ctx):
    there = pa.record_batch({"other": [1]}).copy_to(ctx.device)
    made = MadeStream(SCHEMA, [there])
    with pytest.raises(pa.ArrowInvalid):
        first_of(made)
    hostile = Exported(there, device_id=99)
    with pytest.raises((ValueError, OSError)):
        first_of(MadeStream(there.schema, [hostile]))


def test_wrong_arguments():
    host = TABLE.to_reader().__arrow_c_stream__()
    for capsule in (None, 1, "capsule", host, object()):
        for take in (reader_of, column_of):
            with pytest.raises(TypeError, match="arrow_device_array_stream"):
                take(capsule)
    with pytest.raises(TypeError, match="PyCapsule Protocol"):
        pa.RecordBatchReader.from_stream(object())
    with pytest.raises(TypeError, match="__arrow_c_schema__"):
        pa.RecordBatchReader.from_stream(only_stream(TABLE), schema=1)
    for cls in (pa.Table, pa.RecordBatch, pa.ChunkedArray, pa.RecordBatchReader):
        for wrong in (cls.__new__(cls), 1, None):
            with pytest.raises(TypeError, match="never initialised"):
                cls.__arrow_c_device_stream__(wrong)


def test_nanoarrow_takes_what_a_stream_gives(ctx):
    for batch in imported(TABLE.copy_to(ctx.device)):
        theirs = nanoarrow_device.c_device_array(batch)
        assert theirs.device_id == 0
        back = pa.record_batch(theirs)
        assert back.copy_to(CPU).num_rows == 1


def test_the_structures_functions_say_what_failed(ctx, other_ctx):
    words = pa.array(["x"])
    chunks = [words.copy_to(ctx.device), words.copy_to(other_ctx.device)]
    capsule = pa.chunked_array(chunks).__arrow_c_device_stream__()
    structure = stream_structure(capsule)
    assert structure.error() is None
    code, array = structure.next()
    assert code == 0
    array.release()
    code, array = structure.next()
    assert (code, array.array.release) == (errno.EINVAL, None)
    assert "one device" in structure.error()
    code, array = structure.next()
    assert (code, array.array.release, structure.error()) == (0, None, structure.error())
    assert ctypes.sizeof(structure) == 48


def test_structures_that_lie(ctx):
    """Before anything follows them, as those of single arrays."""
    schema = pa.schema([("a", pa.int8())])
    values = ctx.buffer_from_data(bytes(8))
    column = made_array(8, [None, values.address])
    for changes in ({"n_children": 2}, {"length": -1}, {"buffers": None, "n_buffers": 1}):
        array = made_array(8, [None], [column])
        for name, value in changes.items():
            setattr(array, name, value)
        made = Made(schema, array, owner=values)
        with pytest.raises(pa.ArrowInvalid):
            first_of(stream := MadeStream(schema, [made]))
        gc.collect()
        assert (made.released, stream.released) == (1, 1)
