"""Messages, streams and files of record batches, read from the device."""

import struct

import pyarrow as pa
import pytest

from support.samples import ARRAYS, CPU, DICTIONARY, MIXED, wait_for_release, written

CODECS = pytest.mark.parametrize("codec", ["lz4", "zstd"])
CUDA = pa.DeviceAllocationType.CUDA
LARGE = pa.record_batch({"a": list(range(1000)), "s": ["ten bytes!"] * 1000})


def compressed_message(batch, codec):
    stream = pa.BufferReader(written([batch], compression=codec))
    _schema, message = pa.ipc.MessageReader.open_stream(stream)
    return message.serialize()


def test_messages_in_sequence(cuda, ctx):
    stream = written([MIXED, MIXED.slice(1), MIXED[:0]])
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


@pytest.mark.parametrize("end", [b"", bytes(4), b"\xff" * 4 + bytes(4)])
def test_the_end_of_a_stream(cuda, ctx, end):
    buffer = ctx.buffer_from_data(end)
    with pytest.raises(EOFError):
        cuda.read_message(buffer)
    with pytest.raises(EOFError):
        cuda.read_message(cuda.BufferReader(buffer))
    with pytest.raises(pa.ArrowInvalid, match=r"(?i)end of stream"):
        cuda.read_record_batch(buffer, MIXED.schema)


def test_compression_as_the_first_writers_noted_it(cuda, ctx):
    """In the metadata of version 4; a length of -1 before the values says that they are as is."""
    data = pa.py_buffer(struct.pack("<4q", -1, 1, 2, 3))
    column = pa.Array.from_buffers(pa.int64(), 3, [None, data], null_count=0)
    batch = pa.record_batch([column], names=["x"])
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(metadata_version=pa.ipc.MetadataVersion.V4)
    with pa.ipc.new_stream(sink, batch.schema, options=options) as stream:
        stream.write_batch(batch, custom_metadata={"ARROW:experimental_compression": "lz4"})
    _schema, message = pa.ipc.MessageReader.open_stream(sink.getvalue())
    back = cuda.read_record_batch(ctx.buffer_from_data(message.serialize()), batch.schema)
    assert back.column(0).device_type == CUDA
    assert back.copy_to(CPU).to_pydict() == {"x": [1, 2, 3]}


@CODECS
def test_compressed_bodies_with_metadata_that_is_no_text(run_python, codec):
    """In a process of its own: libarrow takes a body on the device for one on the host."""
    code = """
import sys
import pyarrow as pa
from pyarrow import cuda
ctx = cuda.Context()
batch = pa.record_batch({"a": list(range(1000))})
sink = pa.BufferOutputStream()
options = pa.ipc.IpcWriteOptions(compression=sys.argv[1])
with pa.ipc.new_stream(sink, batch.schema, options=options) as writer:
    writer.write_batch(batch, custom_metadata={b"k\\xff": b"\\xfe"})
reader = pa.ipc.open_stream(cuda.BufferReader(ctx.buffer_from_data(sink.getvalue())))
print(reader.read_next_batch().copy_to(pa.default_cpu_memory_manager()).equals(batch))
"""
    assert run_python(code, codec) == (0, "True\n", "")


@CODECS
@pytest.mark.parametrize("name", ["bool", "string_view", "list", "null", "sparse union"])
def test_compressed_types(cuda, ctx, codec, name):
    batch = pa.record_batch([ARRAYS[name]], names=["column"])
    message = ctx.buffer_from_data(compressed_message(batch, codec))
    assert cuda.read_record_batch(message, batch.schema).copy_to(CPU).equals(batch)
    body = pa.ipc.read_record_batch(cuda.read_message(message), batch.schema)
    assert body.copy_to(CPU).equals(batch)


ENCODED = pa.record_batch([DICTIONARY, ARRAYS["int8"][:5]], names=["d", "i"])
SEQUENCES = [[LARGE, LARGE.slice(10, 5), LARGE[:0]], [ENCODED] * 3]


@pytest.mark.parametrize("codec", [None, "lz4", "zstd"])
@pytest.mark.parametrize("batches", SEQUENCES, ids=["plain", "dictionaries"])
def test_streams_and_files_are_read_from_the_device(cuda, ctx, codec, batches):
    before = ctx.bytes_allocated
    stream = ctx.buffer_from_data(written(batches, compression=codec))
    with pa.ipc.open_stream(cuda.BufferReader(stream)) as reader:
        assert [batch.copy_to(CPU) for batch in reader] == batches
    file = ctx.buffer_from_data(written(batches, pa.ipc.new_file, compression=codec))
    with pa.ipc.open_file(cuda.BufferReader(file)) as reader:
        assert reader.num_record_batches == 3
        for index in (2, 0, 1, 0):
            batch = reader.get_batch(index)
            if codec is None and index == 0:
                assert all(column.device_type == CUDA for column in batch)
                written_again = cuda.serialize_record_batch(batch, ctx).to_pybytes()
                assert written_again == batches[index].serialize().to_pybytes()
            assert batch.copy_to(CPU) == batches[index]
    reader = file = stream = batch = None
    wait_for_release(ctx, before)
