"""Files over device memory: writers, buffered and not, uploads, readers."""

import io
import tempfile
from functools import partial

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import cuda

from support.samples import BATCH, CPU, written

from . import scenario


@scenario()
def writers():
    buffer = cuda.Context().buffer_from_data(bytes(20))
    with cuda.BufferWriter(buffer) as writer:
        writer.write(b"abc")
        writer.writeat(10, b"xyz")
        writer.seek(5)
        writer.write(np.arange(3, dtype=np.uint8))
    assert buffer.to_pybytes() == b"abc\0\0\0\1\2\0\0xyz" + bytes(7)


@scenario()
def buffered_writers():
    buffer = cuda.Context().buffer_from_data(bytes(20))
    with cuda.BufferWriter(buffer) as writer:
        writer.buffer_size = 8
        writer.write(b"abc")
        writer.writeat(10, b"xyz")
        writer.write(b"123456789"[:7])
        writer.flush()
    dropped = cuda.BufferWriter(buffer)
    dropped.buffer_size = 8
    dropped.write(b"ABC")
    dropped.flush()
    del dropped
    assert buffer.to_pybytes() == b"ABC" + bytes(7) + b"xyz1234567"


@scenario()
def writers_that_alternate_halves():
    buffer = cuda.Context().new_buffer(1000)
    data = bytes(range(200)) * 5
    with cuda.BufferWriter(buffer) as writer:
        writer.buffer_size = 64
        for begin in range(0, 1000, 50):
            writer.write(data[begin : begin + 50])
        writer.buffer_size = 0
    assert buffer.to_pybytes() == data


@scenario()
def uploads():
    buffer = cuda.Context().new_buffer(222)
    with tempfile.TemporaryFile(buffering=0) as file, cuda.BufferWriter(buffer) as writer:
        file.write(bytes(range(100)))
        file.seek(30)
        writer.buffer_size = 16
        writer.write(b"ab")
        writer.upload(file)
        writer.upload(io.BytesIO(bytes(range(50))))
        with pa.OSFile(f"/proc/self/fd/{file.fileno()}") as again:
            writer.upload(again, 32)
    expected = b"ab" + bytes(range(30, 100)) + bytes(range(50)) + bytes(range(100))
    assert buffer.to_pybytes() == expected


@scenario()
def whole_files():
    content = bytes(range(250)) * 50
    with tempfile.TemporaryDirectory() as folder:
        path, told = f"{folder}/data", []
        buffer = cuda.Context().buffer_from_data(content)
        assert buffer.copy_to_file(path, 10, progress=lambda *all: told.append(all)) == 12_490
        assert buffer.copy_to_file(path, 0, 5000, offset=12_490, direct=True) == 5000
        for direct in (None, True):
            again = cuda.Context().buffer_from_file(path, 3, direct=direct)
            assert again.to_pybytes() == (content[10:] + content[:5000])[3:]
        assert told == [(12_490, 12_490)]
        piped = cuda.Context().buffer_from_file("/dev/zero", nbytes=5)
        assert piped.to_pybytes() == bytes(5)


@scenario()
def tables_of_files():
    table = pa.table({"word": ["a", None] * 2500, "x": np.arange(5000)})
    for compression in (None, "zstd"):
        data = written(table.to_batches(), pa.ipc.new_file, compression=compression)
        read = cuda.Context().table_from_file(data, columns=["word", "x"])
        assert read.copy_to(CPU).equals(table)


@scenario()
def files_that_fail():
    """The system's errors, and what a callback raises, with the driver's errors beside them."""
    buffer = cuda.Context().buffer_from_data(bytes(9000))

    def refuse(done, total):
        raise KeyError(done, total)

    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/data"
        buffer.copy_to_file(path)
        for direct in (False, True):
            write = partial(buffer.copy_to_file, "/dev/full", direct=direct)
            assert refused(write) == "/dev/full"
            with pytest.raises(KeyError):
                cuda.Context().buffer_from_file(path, direct=direct, progress=refuse)


def refused(copy):
    """The name of the file that the system refuses to read or write."""
    try:
        copy()
    except OSError as error:
        if error.filename is None:
            raise  # the driver's
        return error.filename


@scenario()
def readers():
    buffer = cuda.Context().buffer_from_data(b"ABC" + bytes(7) + b"xyz1234567")
    with cuda.BufferReader(buffer) as reader:
        assert reader.read() == b"ABC" + bytes(7) + b"xyz1234567"
        reader.seek(1)
        assert reader.read_buffer(2).to_pybytes() == b"BC"
        assert reader.read_at(3, 10) == b"xyz"
    with cuda.BufferReader(buffer) as reader:
        out = io.BytesIO()
        reader.download(out, 8)
        assert out.getvalue() == buffer.to_pybytes()


@scenario()
def streams_of_batches():
    buffer = cuda.Context().buffer_from_data(written([BATCH, BATCH]))
    with pa.ipc.open_stream(cuda.BufferReader(buffer)) as reader:
        copied = [each.copy_to(CPU) for each in reader]
    assert copied == [BATCH, BATCH]
    buffer = cuda.Context().buffer_from_data(written([BATCH], pa.ipc.new_file))
    with pa.ipc.open_file(cuda.BufferReader(buffer)) as reader:
        there = reader.get_batch(0)
    assert there.copy_to(CPU).equals(BATCH)
