"""Record batches as messages in device memory."""

import pyarrow as pa
import pytest
from samples import ARRAYS, CPU, DICTIONARY, buffers_of, settle, shapes

EVERY = pytest.mark.parametrize("name", ARRAYS)
CODECS = pytest.mark.parametrize("codec", ["lz4", "zstd"])
CUDA = pa.DeviceAllocationType.CUDA
MIXED = pa.record_batch({"a": [1, None, 3], "s": ["x", None, "yy"], "l": [[1], [], None]})
LARGE = pa.record_batch({"a": list(range(1000)), "s": ["ten bytes!"] * 1000})


def stream_of(batches, **options):
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(**options)
    with pa.ipc.new_stream(sink, batches[0].schema, options=options) as stream:
        for batch in batches:
            stream.write_batch(batch)
    return sink.getvalue()


def file_of(batches, **options):
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(**options)
    with pa.ipc.new_file(sink, batches[0].schema, options=options) as file:
        for batch in batches:
            file.write_batch(batch)
    return sink.getvalue()


def compressed_message(batch, codec):
    stream = pa.BufferReader(stream_of([batch], compression=codec))
    _schema, message = pa.ipc.MessageReader.open_stream(stream)
    return message.serialize()


@EVERY
def test_a_batch_goes_to_the_device_and_back(cuda, ctx, name):
    for array in shapes(ARRAYS[name]):
        batch = pa.record_batch([array, array], names=["first", "second"])
        message = cuda.serialize_record_batch(batch, ctx)
        assert isinstance(message, cuda.CudaBuffer)
        assert message.to_pybytes() == batch.serialize().to_pybytes()
        back = cuda.read_record_batch(message, batch.schema)
        assert (back.schema, back.num_rows) == (batch.schema, batch.num_rows)
        host = back.copy_to(CPU)
        host.validate(full=True)
        assert host.equals(batch)


@EVERY
def test_the_data_stays_on_the_device(cuda, ctx, name):
    batch = pa.record_batch([ARRAYS[name]], names=["column"])
    message = cuda.serialize_record_batch(batch, ctx)
    back = cuda.read_record_batch(message, batch.schema)
    first, last = message.address, message.address + message.size
    for buffer in buffers_of(back.column(0)):
        if buffer.size == 0:
            continue  # libarrow has one empty buffer for all
        assert (buffer.device_type, buffer.is_cpu) == (CUDA, False)
        assert buffer.device == ctx.device
        assert first <= buffer.address <= last - buffer.size
        part = cuda.CudaBuffer.from_buffer(buffer)
        assert (part.address, part.size) == (buffer.address, buffer.size)


@EVERY
def test_a_batch_that_lies_on_a_device_is_serialized(cuda, ctx, name):
    batch = pa.record_batch([ARRAYS[name]], names=["column"])
    message = cuda.serialize_record_batch(batch.copy_to(ctx.memory_manager), ctx)
    assert message.to_pybytes() == batch.serialize().to_pybytes()


def test_a_batch_that_was_read_is_serialized_again(run_python):
    """In a process of its own: what looks like host memory and is not kills the reader."""
    code = """
import pyarrow as pa
from pyarrow import cuda
ctx = cuda.Context()
batch = pa.record_batch({"a": [1, None, 3], "s": ["x", None, "yy"]})
message = cuda.serialize_record_batch(batch, ctx)
again = cuda.serialize_record_batch(cuda.read_record_batch(message, batch.schema), ctx)
assert again.to_pybytes() == message.to_pybytes()
stream = pa.BufferOutputStream()
with pa.ipc.new_stream(stream, batch.schema) as writer:
    writer.write_batch(batch)
read, = pa.ipc.open_stream(cuda.BufferReader(ctx.buffer_from_data(stream.getvalue())))
again = cuda.serialize_record_batch(read, ctx)
assert again.to_pybytes() == message.to_pybytes()
print("done")
"""
    assert run_python(code) == (0, "done\n", "")


def test_a_batch_that_was_read_says_where_it_is(cuda, ctx):
    message = cuda.serialize_record_batch(MIXED, ctx)
    back = cuda.read_record_batch(message, MIXED.schema)
    assert (back.device_type, back.is_cpu) == (CUDA, False)
    with pytest.raises(NotImplementedError, match="Implemented only for data on CPU device"):
        back.validate(full=True)
    for column in back:
        assert (column.device_type, column.is_cpu) == (CUDA, False)


def test_batches_without_columns(cuda, ctx):
    for batch in (pa.record_batch([], names=[]), pa.record_batch({"a": [1, 2]}).select([])):
        message = cuda.serialize_record_batch(batch, ctx)
        assert message.to_pybytes() == batch.serialize().to_pybytes()
        back = cuda.read_record_batch(message, batch.schema)
        assert (back.num_columns, back.num_rows) == (0, batch.num_rows)


def test_many_columns(cuda, ctx):
    batch = pa.record_batch({f"c{i}": [i, None, str(i)][i % 3 : i % 3 + 1] for i in range(300)})
    message = cuda.serialize_record_batch(batch, ctx)
    assert message.to_pybytes() == batch.serialize().to_pybytes()
    assert cuda.read_record_batch(message, batch.schema).copy_to(CPU).equals(batch)


def test_the_message_is_what_is_allocated(cuda, ctx, other_ctx):
    for context in (ctx, other_ctx):
        before = ctx.bytes_allocated, other_ctx.bytes_allocated
        message = cuda.serialize_record_batch(MIXED, context)
        assert message.context.device_number == context.device_number
        assert context.bytes_allocated == before[context.device_number] + message.size
        back = cuda.read_record_batch(message, MIXED.schema)
        assert buffers_of(back.column(0))[0].device == context.device
        assert context.bytes_allocated == before[context.device_number] + message.size
        assert ctx.bytes_allocated + other_ctx.bytes_allocated == sum(before) + message.size
        del message, back


def test_a_shared_context_allocates_for_itself(cuda, ctx, driver):
    handle = driver.create_context()
    shared = cuda.Context(0, handle)
    before = ctx.bytes_allocated
    message = cuda.serialize_record_batch(MIXED, shared)
    assert message.context.handle == shared.handle == handle
    assert (shared.bytes_allocated, ctx.bytes_allocated) == (message.size, before)
    back = cuda.read_record_batch(message, MIXED.schema)
    assert back.copy_to(CPU).equals(MIXED)
    del message, back
    assert shared.bytes_allocated == 0
    del shared
    driver.destroy_context(handle)


def test_the_batch_keeps_the_message(cuda, ctx):
    before = ctx.bytes_allocated
    back = cuda.read_record_batch(cuda.serialize_record_batch(MIXED, ctx), MIXED.schema)
    column = back.column(0)
    del back
    others = [ctx.buffer_from_data(bytes(1000)) for _ in range(4)]
    assert column.copy_to(CPU).equals(MIXED.column(0))
    del others
    assert ctx.bytes_allocated > before
    del column
    assert ctx.bytes_allocated == before


def test_messages_in_sequence(cuda, ctx):
    stream = stream_of([MIXED, MIXED.slice(1), MIXED[:0]])
    expected = list(pa.ipc.MessageReader.open_stream(pa.BufferReader(stream)))
    for read in (cuda.read_message, pa.ipc.read_message):
        reader = cuda.BufferReader(ctx.buffer_from_data(stream))
        for message in expected:
            got = read(reader)
            assert got.type == message.type
            assert got.metadata.equals(message.metadata)
            body = cuda.CudaBuffer.from_buffer(got.body) if got.body.size else b""
            assert bytes(body and body.to_pybytes()) == message.body.to_pybytes()
        for _ in range(2):
            with pytest.raises(EOFError):
                read(reader)


def test_read_message_takes_a_buffer(cuda, ctx):
    buffer = cuda.serialize_record_batch(MIXED, ctx)
    message = cuda.read_message(buffer)
    assert message.type == "record batch"
    assert (message.metadata.is_cpu, message.body.is_cpu) == (True, False)
    assert message.body.device_type == CUDA
    batch = pa.ipc.read_record_batch(message, MIXED.schema)
    assert batch.copy_to(CPU).equals(MIXED)
    schema = cuda.read_message(ctx.buffer_from_data(MIXED.schema.serialize()))
    assert schema.type == "schema"
    assert pa.ipc.read_schema(schema) == MIXED.schema


def test_a_reader_may_stand_anywhere(cuda, ctx):
    message = MIXED.serialize().to_pybytes()
    reader = cuda.BufferReader(ctx.buffer_from_data(b"12345678" + message + message))
    reader.seek(8)
    for _ in range(2):
        batch = pa.ipc.read_record_batch(cuda.read_message(reader), MIXED.schema)
        assert batch.copy_to(CPU).equals(MIXED)
    assert reader.tell() == 8 + 2 * len(message)


@pytest.mark.parametrize("end", [b"", bytes(4), b"\xff" * 4 + bytes(4)])
def test_the_end_of_a_stream(cuda, ctx, end):
    buffer = ctx.buffer_from_data(end)
    with pytest.raises(EOFError):
        cuda.read_message(buffer)
    with pytest.raises(EOFError):
        cuda.read_message(cuda.BufferReader(buffer))
    with pytest.raises(pa.ArrowInvalid, match=r"(?i)end of stream"):
        cuda.read_record_batch(buffer, MIXED.schema)


@CODECS
def test_compressed_bodies_are_read(cuda, ctx, codec):
    message = ctx.buffer_from_data(compressed_message(LARGE, codec))
    back = cuda.read_record_batch(message, LARGE.schema)
    assert back.column(0).device_type == CUDA
    assert back.copy_to(CPU).equals(LARGE)
    body = pa.ipc.read_record_batch(cuda.read_message(message), LARGE.schema)
    assert body.copy_to(CPU).equals(LARGE)


@CODECS
@pytest.mark.parametrize("name", ["bool", "string_view", "list", "null", "sparse union"])
def test_compressed_types(cuda, ctx, codec, name):
    batch = pa.record_batch([ARRAYS[name]], names=["column"])
    message = ctx.buffer_from_data(compressed_message(batch, codec))
    assert cuda.read_record_batch(message, batch.schema).copy_to(CPU).equals(batch)


@pytest.mark.parametrize("codec", [None, "lz4", "zstd"])
def test_streams_and_files_are_read_from_the_device(cuda, ctx, codec):
    before = ctx.bytes_allocated
    batches = [LARGE, LARGE.slice(10, 5), LARGE[:0]]
    stream = ctx.buffer_from_data(stream_of(batches, compression=codec))
    with pa.ipc.open_stream(cuda.BufferReader(stream)) as reader:
        assert [batch.copy_to(CPU) for batch in reader] == batches
    file = ctx.buffer_from_data(file_of(batches, compression=codec))
    with pa.ipc.open_file(cuda.BufferReader(file)) as reader:
        assert reader.num_record_batches == 3
        for index in (2, 0, 1, 0):
            batch = reader.get_batch(index)
            if codec is None and index == 0:
                assert all(column.device_type == CUDA for column in batch)
            assert batch.copy_to(CPU) == batches[index]
    reader = file = stream = batch = None
    settle(ctx, before)


def test_a_memo_without_values_is_refused(cuda, ctx):
    batch = pa.record_batch([DICTIONARY], names=["d"])
    message = cuda.serialize_record_batch(batch, ctx)
    values = list(pa.ipc.MessageReader.open_stream(pa.BufferReader(stream_of([batch]))))[2]
    assert message.to_pybytes() == values.serialize().to_pybytes()
    memo = pa.lib.DictionaryMemo()
    pa.ipc.read_schema(pa.BufferReader(stream_of([batch])), memo)
    for given in (memo, pa.lib.DictionaryMemo(), None):
        with pytest.raises((pa.ArrowInvalid, KeyError)):
            cuda.read_record_batch(message, batch.schema, dictionary_memo=given)
    plain = cuda.serialize_record_batch(MIXED, ctx)
    back = cuda.read_record_batch(plain, MIXED.schema, dictionary_memo=memo)
    assert back.copy_to(CPU).equals(MIXED)


def test_dictionaries_in_streams_and_files(cuda, ctx):
    before = ctx.bytes_allocated
    batch = pa.record_batch([DICTIONARY, ARRAYS["int8"][:5]], names=["d", "i"])
    for codec in (None, "lz4"):
        stream = ctx.buffer_from_data(stream_of([batch, batch], compression=codec))
        with pa.ipc.open_stream(cuda.BufferReader(stream)) as reader:
            assert [part.copy_to(CPU) for part in reader] == [batch, batch]
        file = ctx.buffer_from_data(file_of([batch, batch], compression=codec))
        with pa.ipc.open_file(cuda.BufferReader(file)) as reader:
            assert reader.get_batch(1).copy_to(CPU) == batch
    reader = file = stream = None
    settle(ctx, before)


@pytest.mark.parametrize(
    "schema",
    [
        pa.schema([("a", pa.int64())]).append(pa.field("b", pa.int64())),
        pa.schema([("a", pa.decimal256(9)), ("s", pa.string())]),
        pa.schema([("a", pa.int64()), ("s", pa.string()), ("x", pa.int8())]),
        pa.schema([("a", pa.int64()), ("s", pa.list_(pa.string()))]),
        pa.schema([("a", pa.int64()), ("s", pa.large_string())]),
        pa.schema([("a", pa.list_(pa.int64())), ("s", pa.string())]),
        pa.schema([("a", pa.dictionary(pa.int8(), pa.string())), ("s", pa.string())]),
        pa.schema([("a", pa.int64()), ("s", pa.string_view())]),
        pa.schema([("a", pa.struct([("x", pa.int64()), ("y", pa.int64())])), ("s", pa.string())]),
    ],
    ids=str,
)
def test_another_schema_is_refused_or_read_within_bounds(cuda, ctx, schema):
    batch = pa.record_batch({"a": [1, None, 3], "s": ["x", None, "yy"]})
    message = cuda.serialize_record_batch(batch, ctx)
    try:
        back = cuda.read_record_batch(message, schema)
    except (pa.ArrowException, OSError, KeyError):
        return
    # Both schemas may fit the same buffers; then at least nothing outside is touched.
    back.validate()
    assert back.copy_to(CPU).num_rows == 3


def test_what_is_no_schema_is_refused(cuda, ctx):
    message = cuda.serialize_record_batch(MIXED, ctx)
    for schema in (None, "schema", MIXED, pa.int64()):
        with pytest.raises(TypeError):
            cuda.read_record_batch(message, schema)
    for memo in ("memo", {}, 1):
        with pytest.raises(TypeError):
            cuda.read_record_batch(message, MIXED.schema, dictionary_memo=memo)
    with pytest.raises(TypeError):
        cuda.read_record_batch(message, MIXED.schema, None)


def test_a_message_of_another_kind_is_no_batch(cuda, ctx):
    schema = ctx.buffer_from_data(MIXED.schema.serialize())
    with pytest.raises((pa.ArrowInvalid, OSError), match=r"schema|record batch"):
        cuda.read_record_batch(schema, MIXED.schema)


def test_metadata_of_a_schema_is_kept(cuda, ctx):
    schema = MIXED.schema.with_metadata({"key": "value"})
    message = cuda.serialize_record_batch(MIXED, ctx)
    assert cuda.read_record_batch(message, schema).schema.equals(schema, check_metadata=True)
