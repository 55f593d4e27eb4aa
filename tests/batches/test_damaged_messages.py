"""Messages that lie about themselves: exceptions, never a crash, never a read outside."""

import re
import struct
from itertools import product

import pyarrow as pa
import pytest

from support import fuzz
from support.fuzz import REFUSALS, touch
from support.samples import ARRAYS, BATCH, CPU, wait_for_release, written

MESSAGE = BATCH.serialize().to_pybytes()
METADATA = 8 + int.from_bytes(MESSAGE[4:8], "little")
#: Where the two columns' lengths and null counts, and their five buffers, are described.
NODES = MESSAGE.index(struct.pack("<qqqq", 3, 1, 3, 1))
BUFFERS = MESSAGE.index(struct.pack("<qqqqqq", 0, 1, 8, 24, 32, 1))
OFFSETS = range(BUFFERS, BUFFERS + 80, 16)
LENGTHS = range(BUFFERS + 8, BUFFERS + 80, 16)
#: Where the number of rows and the body's length are.
ROWS, BODY = (
    [match.start() for match in re.finditer(re.escape(struct.pack("<q", number)), MESSAGE)]
    for number in (3, len(MESSAGE) - METADATA)
)
FUZZED = ["int64", "bool", "null", "decimal128", "string", "binary_view", "fixed binary", "list"]
FUZZED += ["large list view", "fixed list", "map", "struct", "dense union", "sparse union"]
FUZZED += ["run-end encoded", "extension", "deeply nested"]
HOST_REFUSES = pa.cpp_version_info.major >= 25
HUGE = [-1, -(2**63), 2**31, 2**62, 2**63 - 1]


def changed(place, number, code="<q", message=MESSAGE):
    data = bytearray(message)
    struct.pack_into(code, data, place, number)
    return bytes(data)


def refuse(cuda, ctx, data, schema=BATCH.schema):
    """Every way to read a message must refuse this one."""
    buffer = ctx.buffer_from_data(data)
    with pytest.raises(REFUSALS) as caught:
        cuda.read_record_batch(buffer, schema)
    assert "Cuda error" not in str(caught.value)
    for source in (buffer, cuda.BufferReader(buffer)):
        with pytest.raises(REFUSALS) as caught:
            touch(pa.ipc.read_record_batch(cuda.read_message(source), schema))
        assert "Cuda error" not in str(caught.value)
    # pyarrow's own function reads what is damaged on the host, where it checks no lengths before
    # release 25.
    if not HOST_REFUSES and accepted_by_host(data, schema):
        return
    with pytest.raises(REFUSALS) as caught:
        touch(pa.ipc.read_record_batch(pa.ipc.read_message(cuda.BufferReader(buffer)), schema))
    assert "Cuda error" not in str(caught.value)


def accepted_by_host(data, schema):
    try:
        touch(pa.ipc.read_record_batch(pa.ipc.read_message(pa.BufferReader(data)), schema))
    except REFUSALS:
        return False
    return True


def test_the_places_are_the_ones(cuda, ctx):
    assert cuda.read_record_batch(ctx.buffer_from_data(MESSAGE), BATCH.schema).num_rows == 3
    assert ROWS
    assert BODY


def raised(call, *arguments):
    with pytest.raises((*REFUSALS, EOFError)) as caught:
        call(*arguments)
    return caught.type, str(caught.value)


def check_as_on_the_host(cuda, ctx, data, schema):
    """The exception and its text."""
    expected = raised(pa.ipc.read_message, pa.BufferReader(data))
    there = ctx.buffer_from_data(data)
    for source in (there, cuda.BufferReader(there)):
        assert raised(cuda.read_message, source) == expected, data
    if expected[0] is EOFError:
        with pytest.raises(REFUSALS):
            cuda.read_record_batch(there, schema)
    else:
        assert raised(cuda.read_record_batch, there, schema) == expected, data


@pytest.mark.parametrize(
    "name", ["int64", "string", "list", "string_view", "struct", "dense union"]
)
def test_a_message_cut_at_every_byte(cuda, ctx, name):
    """In both formats."""
    batch = pa.record_batch([ARRAYS[name]], names=["column"])
    message = batch.serialize().to_pybytes()
    for start in (0, 4):
        for size in range(start, len(message)):
            check_as_on_the_host(cuda, ctx, message[start:size], batch.schema)


def test_what_is_said_of_a_message_that_ends_too_early(cuda, ctx):
    lengths = [changed(4, length, "<i") for length in (-8, -(2**31), 2**31 - 1, 8, 5)]
    noise = b"\xff\xff\xff\xff\x40\0\0\0" + bytes(range(64))
    for data in [*lengths, changed(BODY[-1], -1), noise, bytes(16)]:
        check_as_on_the_host(cuda, ctx, data, BATCH.schema)
    whole = len(MESSAGE) - METADATA
    text = f"Expected to be able to read {whole} bytes for message body, got {whole - 1}"
    short = ctx.buffer_from_data(MESSAGE[:-1])
    assert raised(cuda.read_record_batch, short, BATCH.schema) == (OSError, text)


def test_a_cut_stream_or_file_is_refused(cuda, ctx):
    before = ctx.bytes_allocated
    for opener, reader in ((pa.ipc.new_stream, pa.ipc.open_stream), (pa.ipc.new_file, None)):
        whole = ctx.buffer_from_data(written([BATCH], opener))
        for length in range(whole.size):
            source = cuda.BufferReader(whole.slice(0, length))
            if reader is None:
                with pytest.raises(REFUSALS):
                    pa.ipc.open_file(source).get_batch(0)
                continue
            try:
                batches = list(reader(source))
            except REFUSALS:
                continue
            # A stream may end where a message does.
            assert all(batch.copy_to(CPU).equals(BATCH) for batch in batches)
        source = whole = batches = None
    wait_for_release(ctx, before)


@pytest.mark.parametrize(
    "length",
    [-1, -2, -(2**31), 2**31 - 1, METADATA - 7, 10**6, 1, 2, 7, 8, 12, 16, 40],
)
def test_impossible_metadata_lengths(cuda, ctx, length):
    refuse(cuda, ctx, changed(4, length, "<i"))


#: The places of numbers, and what cannot stand there.
IMPOSSIBLE = {
    "body length": (
        [at for at in BODY if at % 8 == 0 and at < METADATA and not BUFFERS <= at < BUFFERS + 80],
        [*HUGE, 10**6],
    ),
    "rows": ([next(at for at in ROWS if at < NODES or at > NODES + 32)], [*HUGE, 4, 2]),
    "column length": ([NODES, NODES + 16], [*HUGE, 4, 9, 1000, 0, 2**61, 2**60 + 3]),
    "buffer offset": (OFFSETS, [*HUGE, 64, 72, 10**6, 2**63 - 8, 2**63 - 24]),
    "misaligned buffer offset": (OFFSETS, [1, 4, 9]),
    "buffer length": (LENGTHS, [*HUGE, 65, 10**6, 2**63 - 8, 2**63 - 32]),
}


@pytest.mark.parametrize("name", IMPOSSIBLE)
def test_impossible_numbers(cuda, ctx, name):
    for place, number in product(*IMPOSSIBLE[name]):
        refuse(cuda, ctx, changed(place, number))


@pytest.mark.parametrize("column", [0, 1])
@pytest.mark.parametrize("nulls", [-2, -(2**63), 4, 2**31, 2**63 - 1])
def test_impossible_null_counts(cuda, ctx, column, nulls):
    data = changed(NODES + 16 * column + 8, nulls)
    with pytest.raises(REFUSALS):
        cuda.read_record_batch(ctx.buffer_from_data(data), BATCH.schema)


@pytest.mark.parametrize("place", LENGTHS[:4])
def test_buffers_that_are_too_short(cuda, ctx, place):
    (length,) = struct.unpack_from("<q", MESSAGE, place)
    for shorter in range(length):
        data = changed(place, shorter)
        with pytest.raises(REFUSALS):
            cuda.read_record_batch(ctx.buffer_from_data(data), BATCH.schema)


def test_a_refused_message_leaves_the_reader_usable(cuda, ctx):
    reader = cuda.BufferReader(ctx.buffer_from_data(changed(4, -5, "<i") + MESSAGE))
    with pytest.raises(REFUSALS):
        cuda.read_message(reader)
    reader.seek(len(MESSAGE))
    batch = pa.ipc.read_record_batch(cuda.read_message(reader), BATCH.schema)
    assert batch.copy_to(CPU).equals(BATCH)


def test_zeros_ones_and_noise_are_refused(cuda, ctx):
    noise = bytes((index * index * 31 + 7) % 256 for index in range(4096))
    for data in (b"\xff" * 4096, b"\xff" * 8, b"\x10" + bytes(63), noise, b"ARROW1\0\0" + noise):
        refuse(cuda, ctx, data)


def test_the_memory_behind_a_message_is_not_read(cuda, ctx):
    """What follows the message is another buffer's; a length that reaches there is refused."""
    whole = ctx.buffer_from_data(MESSAGE + b"secret!!" * 100)
    message = whole.slice(0, len(MESSAGE))
    message.copy_from_host(changed(BUFFERS + 16 * 4 + 8, 64))
    with pytest.raises(REFUSALS):
        cuda.read_record_batch(message, BATCH.schema)
    with pytest.raises(REFUSALS):
        touch(pa.ipc.read_record_batch(cuda.read_message(message), BATCH.schema))


@pytest.mark.parametrize("kind", ["batch", "message", "stream", "file", "table", "lz4", "zstd"])
def test_random_damage(run_python, kind):
    names = [*FUZZED, "dictionary"] if kind in fuzz.READERS else FUZZED
    code = f"""
import sys
from support import fuzz
for name in sys.argv[1:]:
    fuzz.main({kind!r}, name, 0, 60)
"""
    returncode, out, error = run_python(code, *names)
    last = out.strip().rpartition("\n")[2]
    assert (returncode, last[:8]) == (0, "survived"), f"died at '{last}' ({returncode}): {error}"


UNCHECKED = """
import struct
import pyarrow as pa, pyarrow_cuda_compat as cuda
from support.fuzz import REFUSALS
from support.samples import ARRAYS
ctx = cuda.Context(0)

def damaged(message):
    # Each number in the metadata that may be a length, made another one.
    metadata = 8 + int.from_bytes(message[4:8], "little")
    for place in range(8, metadata - 8, 8):
        if 0 < struct.unpack_from("<q", message, place)[0] <= len(message):
            for number in (0, 2**20, 2**59 + 1, 2**62):
                yield message[:place] + number.to_bytes(8, "little") + message[place + 8:]

written = 0
for name, array in ARRAYS.items():
    batch = pa.record_batch([array], names=["x"])
    if batch.get_total_buffer_size() > 10_000:
        continue
    for number, data in enumerate(damaged(batch.serialize().to_pybytes())):
        print(name, number, flush=True)
        try:
            # pyarrow's own function, which looks at no buffer.
            message = cuda.read_message(ctx.buffer_from_data(data))
            read = pa.ipc.read_record_batch(message, batch.schema)
            cuda.serialize_record_batch(read, ctx)
            written += 1
        except REFUSALS as refusal:
            assert "Cuda error" not in str(refusal), refusal
assert written
"""


def test_a_batch_that_nobody_has_checked_is_not_written(run_python):
    code, out, err = run_python(UNCHECKED)
    assert (code, err) == (0, ""), f"at {out.splitlines()[-1:]}"
