"""Device buffers as files: `BufferReader` and `BufferWriter`."""

import gc
import threading

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

DATA = bytes((17 * index + 3) % 256 for index in range(1000))
CLOSED = "^I/O operation on closed file$"
OUTSIDE = "^Seek out of bounds$"


@pytest.fixture
def open_reader(cuda, ctx):
    # A fixture that is a reader would keep its buffer beyond the check for leaks.
    return lambda: cuda.BufferReader(ctx.buffer_from_data(DATA))


def test_a_reader_says_what_it_is(cuda, open_reader):
    reader = open_reader()
    assert isinstance(reader, pa.NativeFile)
    assert (reader.mode, reader.size(), reader.tell()) == ("rb", 1000, 0)
    assert (reader.readable(), reader.writable(), reader.seekable()) == (True, False, True)
    with pytest.raises(OSError, match="only valid on writable files"):
        reader.write(b"x")


@pytest.mark.parametrize("position", [0, 1, 500, 999, 1000])
def test_seek_reaches_the_end_inclusive(open_reader, position):
    reader = open_reader()
    assert reader.seek(position) == position
    assert reader.tell() == position
    assert reader.read() == DATA[position:]
    assert reader.seek(position - 1000, 2) == position
    reader.seek(0)
    assert reader.seek(position, 1) == position


@pytest.mark.parametrize("position", [-1, 1001, 2**62, -(2**63), 2**63 - 1])
def test_seek_outside_is_refused_and_moves_nothing(open_reader, position):
    reader = open_reader()
    reader.seek(7)
    with pytest.raises(OSError, match=OUTSIDE):
        reader.seek(position)
    assert reader.tell() == 7


@pytest.mark.parametrize(("offset", "whence"), [(-8, 1), (994, 1), (1, 2), (-1001, 2)])
def test_relative_seek_outside_is_refused(open_reader, offset, whence):
    reader = open_reader()
    reader.seek(7)
    with pytest.raises(OSError, match=OUTSIDE):
        reader.seek(offset, whence)
    assert reader.tell() == 7


def test_read_takes_what_there_is(open_reader):
    reader = open_reader()
    assert reader.read(10) == DATA[:10]
    assert reader.read(0) == b""
    assert reader.tell() == 10
    assert reader.read(5000) == DATA[10:]
    assert reader.read(1) == b""
    assert reader.read() == b""
    reader.seek(990)
    assert reader.read(None) == DATA[990:]
    reader.seek(3)
    assert reader.read1(4) == DATA[3:7]
    assert reader.readall() == DATA[7:]


def test_readinto_fills_host_memory_only_as_far_as_it_reads(open_reader):
    reader = open_reader()
    target = bytearray(b"#" * 20)
    assert reader.readinto(memoryview(target)[:8]) == 8
    assert bytes(target) == DATA[:8] + b"#" * 12
    reader.seek(995)
    assert reader.readinto(target) == 5
    assert bytes(target) == DATA[995:] + DATA[5:8] + b"#" * 12
    assert reader.readinto(target) == 0
    assert reader.readinto(bytearray()) == 0


def test_readinto_refuses_read_only_and_device_memory(ctx, open_reader):
    reader = open_reader()
    with pytest.raises((TypeError, ValueError)):
        reader.readinto(b"abcd")
    with pytest.raises((TypeError, ValueError, BufferError)):
        reader.readinto(ctx.new_buffer(4))
    assert reader.tell() == 0


@pytest.mark.parametrize(
    ("size", "position"), [(10, 0), (0, 5), (10, 995), (10, 1000), (10, 1001), (1, 2**62)]
)
def test_read_at_has_a_position_of_its_own(open_reader, size, position):
    reader = open_reader()
    reader.seek(3)
    assert reader.read_at(size, position) == DATA[position : position + size]
    assert reader.tell() == 3


def test_read_at_a_negative_position_is_refused(open_reader):
    reader = open_reader()
    with pytest.raises((OSError, ValueError)):
        reader.read_at(3, -1)


@pytest.mark.parametrize("size", [-1, -(2**63)])
def test_negative_sizes_are_refused(open_reader, size):
    reader = open_reader()
    with pytest.raises(ValueError, match="negative"):
        reader.read_buffer(size)
    # pyarrow itself allocates the result of these two.
    with pytest.raises((SystemError, ValueError, MemoryError)):
        reader.read(size)
    with pytest.raises((SystemError, ValueError, MemoryError)):
        reader.read_at(size, 0)
    assert reader.tell() == 0


@pytest.mark.parametrize("size", [2**31, 2**62, 2**63 - 1])
def test_read_buffer_of_a_huge_size_gives_the_rest(cuda, open_reader, size):
    reader = open_reader()
    reader.seek(1)
    part = reader.read_buffer(size)
    assert isinstance(part, cuda.CudaBuffer)
    assert (part.size, reader.tell()) == (999, 1000)


def test_read_buffer_gives_slices_of_the_same_memory(cuda, ctx):
    buffer = ctx.buffer_from_data(DATA)
    reader = cuda.BufferReader(buffer)
    reader.seek(100)
    part = reader.read_buffer(50)
    assert isinstance(part, cuda.CudaBuffer)
    assert (part.address, part.size, reader.tell()) == (buffer.address + 100, 50, 150)
    assert part.to_pybytes() == DATA[100:150]
    assert reader.read_buffer(0).size == 0
    rest = reader.read_buffer()
    assert (rest.address, rest.size) == (buffer.address + 150, 850)
    assert reader.read_buffer().size == 0
    assert reader.read_buffer(None).size == 0


def test_read_buffer_keeps_the_memory(cuda, ctx):
    before = ctx.bytes_allocated
    parts = []
    for index in range(5):
        whole = ctx.buffer_from_data(DATA)
        reader = cuda.BufferReader(whole)
        reader.seek(index)
        parts.append(reader.read_buffer(7))
    del whole, reader
    gc.collect()
    others = [ctx.buffer_from_data(bytes(1000)) for _ in range(5)]
    assert [part.to_pybytes() for part in parts] == [DATA[i : i + 7] for i in range(5)]
    del others
    assert ctx.bytes_allocated == before + 5000
    parts.clear()
    gc.collect()
    assert ctx.bytes_allocated == before


def test_a_slice_outlives_a_closed_reader(cuda, ctx):
    buffer = ctx.buffer_from_data(DATA)
    reader = cuda.BufferReader(buffer)
    part = reader.read_buffer(4)
    reader.close()
    assert part.to_pybytes() == DATA[:4]
    assert buffer.to_pybytes() == DATA


def test_a_closed_reader_refuses(cuda, open_reader):
    reader = open_reader()
    reader.close()
    reader.close()
    assert reader.closed
    for work in (
        reader.read,
        reader.tell,
        reader.size,
        reader.read_buffer,
        lambda: reader.seek(0),
        lambda: reader.read(0),
        lambda: reader.read_at(1, 0),
        lambda: reader.read_buffer(0),
        lambda: reader.readinto(bytearray(1)),
        lambda: cuda.read_message(reader),
        lambda: pa.ipc.read_message(reader),
    ):
        with pytest.raises(ValueError, match=CLOSED):
            work()


def test_a_reader_of_no_bytes(cuda, ctx):
    with cuda.BufferReader(ctx.new_buffer(0)) as reader:
        assert reader.size() == reader.tell() == reader.seek(0) == 0
        assert reader.read() == reader.read(5) == reader.read_at(5, 0) == b""
        assert reader.read_buffer().size == reader.read_buffer(9).size == 0
        with pytest.raises(OSError, match=OUTSIDE):
            reader.seek(1)


def test_streams_and_lines_of_a_reader(cuda, ctx):
    with cuda.BufferReader(ctx.buffer_from_data(b"one\ntwo\nthree")) as reader:
        assert reader.get_stream(4, 3).read() == b"two"
        target = pa.BufferOutputStream()
        reader.download(target)
        assert target.getvalue().to_pybytes() == b"one\ntwo\nthree"


def test_threads_share_a_reader(cuda, ctx):
    """Each read and its move of the position are one step: no byte is lost or seen twice."""
    size, piece = 64 * 1024, 64
    numbers = np.arange(size // 8, dtype=np.int64)
    reader = cuda.BufferReader(ctx.buffer_from_data(numbers))
    barrier, pieces, failures = threading.Barrier(8), [], []

    def work(index):
        barrier.wait()
        while True:
            got = reader.read(piece) if index % 2 else reader.read_buffer(piece).to_pybytes()
            if not got:
                return
            pieces.append(got)
            position = 8 * (len(pieces) % 100)
            if reader.read_at(8, position) != numbers.tobytes()[position : position + 8]:
                failures.append(position)

    threads = [threading.Thread(target=work, args=(index,)) for index in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert len(pieces) == size // piece
    assert b"".join(sorted(pieces, key=lambda p: int.from_bytes(p[:8], "little"))) == (
        numbers.tobytes()
    )


operations = st.lists(
    st.one_of(
        st.tuples(st.just("read"), st.integers(0, 40) | st.none()),
        st.tuples(st.just("read_buffer"), st.integers(0, 40) | st.none()),
        st.tuples(st.just("read_at"), st.integers(0, 40), st.integers(0, 40)),
        st.tuples(st.just("seek"), st.integers(-40, 40), st.integers(0, 2)),
    ),
    max_size=20,
)


@given(data=st.binary(max_size=32), work=operations)
def test_a_reader_is_like_a_file(cuda, ctx, data, work):
    position = 0
    with cuda.BufferReader(ctx.buffer_from_data(data)) as reader:
        for name, *arguments in work:
            if name == "seek":
                offset, whence = arguments
                target = offset + (0, position, len(data))[whence]
                if 0 <= target <= len(data):
                    position = reader.seek(offset, whence)
                    assert position == target
                else:
                    with pytest.raises(OSError, match=OUTSIDE):
                        reader.seek(offset, whence)
            elif name == "read_at":
                size, start = arguments
                assert reader.read_at(size, start) == data[start : start + size]
            else:
                got = getattr(reader, name)(*arguments)
                size = len(data) if arguments[0] is None else arguments[0]
                expected = data[position : position + size]
                assert (got if name == "read" else got.to_pybytes()) == expected
                position += len(expected)
            assert reader.tell() == position
