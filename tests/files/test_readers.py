"""Device buffers as files: `BufferReader` and `BufferWriter`."""

from functools import partial

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow.cuda import BufferReader

from support.threads import in_threads

DATA = bytes((17 * index + 3) % 256 for index in range(1000))
OUTSIDE = "^Seek out of bounds$"


@pytest.fixture
def open_reader(cuda, ctx):
    # A fixture that is a reader would keep its buffer beyond the check for leaks.
    return lambda: cuda.BufferReader(ctx.buffer_from_data(DATA))


def test_readinto_refuses_read_only_and_device_memory(ctx, open_reader):
    reader = open_reader()
    with pytest.raises((TypeError, ValueError)):
        reader.readinto(b"abcd")
    with pytest.raises((TypeError, ValueError, BufferError)):
        reader.readinto(ctx.new_buffer(4))
    assert reader.tell() == 0


@pytest.mark.parametrize("size", [2**31, 2**62, 2**63 - 1])
def test_read_buffer_of_a_huge_size_gives_the_rest(cuda, open_reader, size):
    reader = open_reader()
    reader.seek(1)
    part = reader.read_buffer(size)
    assert isinstance(part, cuda.CudaBuffer)
    assert (part.size, reader.tell()) == (999, 1000)


@pytest.mark.parametrize("owner", [BufferReader, pa.NativeFile])
def test_threads_share_a_reader(cuda, ctx, owner):
    """Each read and its move of the position are one step: no byte is lost or seen twice."""
    size, piece = 64 * 1024, 64
    numbers = np.arange(size // 8, dtype=np.int64)
    reader = cuda.BufferReader(ctx.buffer_from_data(numbers))
    pieces, failures = [], []
    read_buffer = partial(owner.read_buffer, reader)

    def work(index):
        while True:
            got = reader.read(piece) if index % 2 else read_buffer(piece).to_pybytes()
            if not got:
                return
            pieces.append(got)
            position = 8 * (len(pieces) % 100)
            if reader.read_at(8, position) != numbers.tobytes()[position : position + 8]:
                failures.append(position)

    in_threads(work, 8)
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
