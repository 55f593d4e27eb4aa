"""Which bodies of IPC messages stay on the device, and which libarrow reads on the host.

A body on the device that libarrow looks into ends the process, so each test that could get there
runs in a process of its own.
"""

import pyarrow as pa
import pytest

from support.driver import DOWN

PREAMBLE = """
import sys

import pyarrow as pa
from pyarrow import cuda
from support import samples
from support.samples import CPU
from support.written import Written

ctx = cuda.Context()
kind = sys.argv[1]

def written(batches, **options):
    opener = pa.ipc.new_stream if kind == "stream" else pa.ipc.new_file
    return bytearray(samples.written(batches, opener, **options))

def opened(data):
    source = cuda.BufferReader(ctx.buffer_from_data(data))
    if kind == "stream":
        return pa.ipc.open_stream(source)
    reader = pa.ipc.open_file(source)
    return (reader.get_batch(index) for index in range(reader.num_record_batches))

def places(batch):
    return [column.device_type == pa.DeviceAllocationType.CUDA for column in batch.columns]
"""

SWAPPED = """
batch = pa.record_batch({"x": pa.array([1, 2, 3], pa.int64())})
data = Written(batch, kind).swap_bytes().data
(read,) = opened(data)
assert places(read) == [False]
assert read.column(0).to_pylist() == [1 << 56, 2 << 56, 3 << 56]
print("swapped on the host")
"""

DELTAS = """
def encoded(indices, words):
    return pa.record_batch([pa.DictionaryArray.from_arrays(pa.array(indices, pa.int32()), words)],
                           names=["d"])

batches = [encoded([0, 1], ["a", "b"]), encoded([2, 0], ["a", "b", "c"])]
reader = opened(written(batches, emit_dictionary_deltas=True))
read = []
try:
    for batch in reader:
        read.append(batch)
except NotImplementedError as error:
    print(error)
assert [batch.copy_to(CPU) for batch in read] == batches[: len(read)]
print(len(read))
"""

NULLS = """
batch = pa.record_batch({"x": pa.array([1, None, 3], pa.int64())})
written = Written(batch, kind)
data = written.put(written.nodes() + 8, -1).data
(read,) = opened(data)
assert places(read) == [False]
assert read.equals(batch)
print("counted on the host")
"""

TEXTS = """
schema = pa.schema([pa.field("x", pa.int64(), metadata={b"k\\xff": b"\\xfe"})],
                   metadata={b"\\xff": b"\\x80\\x04"})
batch = pa.record_batch([pa.array([1, 2, 3])], schema=schema)
(read,) = opened(written([batch]))
assert places(read) == [True]
assert read.copy_to(CPU).equals(batch)
print("left on the device")
"""


@pytest.mark.parametrize("kind", ["stream", "file"])
@pytest.mark.parametrize(
    ("code", "says"),
    [
        pytest.param(SWAPPED, "swapped on the host", id="byte order"),
        pytest.param(NULLS, "counted on the host", id="open null count"),
        pytest.param(TEXTS, "left on the device", id="texts that are not UTF-8"),
    ],
)
def test_where_a_body_lies(run_python, kind, code, says):
    assert run_python(PREAMBLE + code, kind) == (0, says + "\n", "")


def test_a_delta_is_not_appended_to_a_dictionary_on_the_device(run_python):
    code, says, error = run_python(PREAMBLE + DELTAS, "stream")
    assert (code, error) == (0, "")
    assert says.startswith("A delta dictionary cannot be appended to one in device memory: read it")
    assert says.endswith("\n1\n")


def test_a_message_with_texts_that_are_not_utf8_is_read(cuda, ctx):
    batch = pa.record_batch({"x": [1, None, 3]})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch, custom_metadata={b"k\xff": b"\xfe"})
    _schema, message = pa.ipc.MessageReader.open_stream(sink.getvalue())
    buffer = ctx.buffer_from_data(message.serialize())
    assert cuda.read_message(buffer).equals(pa.ipc.read_message(cuda.BufferReader(buffer)))
    there = cuda.read_record_batch(buffer, batch.schema)
    assert there.column(0).device_type == pa.DeviceAllocationType.CUDA
    assert there.copy_to(pa.default_cpu_memory_manager()).equals(batch)


@pytest.mark.simulator
def test_metadata_is_copied_to_the_host_once(cuda, ctx, calls):
    """`read_message` has checked it by then, and gives libarrow the bytes that were checked."""
    buffer = cuda.serialize_record_batch(pa.record_batch({"x": [1, 2, 3]}), ctx)
    message, [copies] = calls(lambda: cuda.read_message(buffer), DOWN)
    assert not message.body.is_cpu
    # The message's beginning, and the marker and the length that libarrow reads by itself.
    assert copies == 3


def two_messages():
    """Two batches, and messages of them that differ in their metadata, but not in any size."""
    batch = pa.record_batch({"x": [1, 2, 3, 4]})
    batches = [batch.slice(0, rows) for rows in (3, 4)]
    messages = [batch.serialize().to_pybytes() for batch in batches]
    first, second = messages
    assert (len(first), first[4:8]) == (len(second), second[4:8])
    assert first != second
    return batches, messages


@pytest.mark.simulator
@pytest.mark.parametrize("copy", [2, 3])
def test_metadata_that_was_expected_is_forgotten_on_failure(cuda, ctx, driver, copy):
    """The marker or the length cannot be read, and then another message lies there."""
    _batches, (first, second) = two_messages()
    buffer = ctx.buffer_from_data(first)
    reader = cuda.BufferReader(buffer)
    driver.library.cuda_sim_fault(f"cuMemcpyDtoHAsync:{copy}=999".encode())
    try:
        with pytest.raises(OSError, match="999"):
            cuda.read_message(reader)
    finally:
        driver.library.cuda_sim_fault(b"")
    buffer.copy_from_host(second)
    reader.seek(0)
    read = pa.ipc.read_message(reader)
    assert read.metadata.to_pybytes() == second[8 : 8 + read.metadata.size]


def test_metadata_that_was_expected_is_not_given_twice(cuda, ctx):
    """Who changes a message and reads it again gets what is there now."""
    batches, messages = two_messages()
    buffer = ctx.buffer_from_data(messages[0])
    reader = cuda.BufferReader(buffer)
    for message, batch in zip(messages, batches, strict=True):
        buffer.copy_from_host(message)
        reader.seek(0)
        read = cuda.read_message(reader)
        assert read.metadata.to_pybytes() == message[8 : 8 + read.metadata.size]
        reader.seek(0)
        assert pa.ipc.read_message(reader).equals(read)
        there = pa.ipc.read_record_batch(read, batch.schema)
        assert there.copy_to(pa.default_cpu_memory_manager()).equals(batch)
