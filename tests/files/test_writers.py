"""`BufferWriter`: what is written, where, and when it reaches the device."""

import gc

import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

OUTSIDE = "^position out of bounds$"
FULL = "do not fit into a device buffer of"


@pytest.mark.parametrize("position", [-1, 10, 11, 2**62, -(2**63)])
@pytest.mark.parametrize("size", [0, 4])
def test_positions_outside_are_refused(cuda, guarded, position, size):
    buffer = guarded(10)
    with cuda.BufferWriter(buffer) as writer:
        writer.buffer_size = size
        writer.write(b"ab")
        with pytest.raises(OSError, match=OUTSIDE):
            writer.seek(position)
        with pytest.raises(OSError, match=OUTSIDE):
            writer.writeat(position, b"x")
        with pytest.raises(OSError, match=OUTSIDE):
            writer.seek(position - 2 if position > -(2**62) else position, 1)
        with pytest.raises(OSError, match=OUTSIDE):
            writer.seek(2**63 - 1, 1)
        assert writer.tell() == 2
    assert buffer.to_pybytes() == b"ab" + bytes(8)


def test_impossible_buffer_sizes_are_refused(cuda, guarded):
    buffer = guarded(10)
    with cuda.BufferWriter(buffer) as writer:
        writer.buffer_size = 4
        writer.write(b"abc")
        with pytest.raises(ValueError, match="negative"):
            writer.buffer_size = -1
        with pytest.raises((OSError, MemoryError)):
            writer.buffer_size = 2**62
        with pytest.raises(TypeError):
            writer.buffer_size = "4"
        with pytest.raises(AttributeError):
            del writer.buffer_size
        writer.write(b"d")
    assert buffer.to_pybytes() == b"abcd" + bytes(6)


def test_a_writer_that_is_dropped_writes_what_it_holds(cuda, guarded):
    buffer = guarded(10)
    before = buffer.to_pybytes()
    writer = cuda.BufferWriter(buffer)
    writer.buffer_size = 100
    writer.write(b"kept")
    assert buffer.to_pybytes() == before
    del writer
    gc.collect()
    assert buffer.to_pybytes() == b"kept" + before[4:]


def test_a_writer_may_write_its_own_buffer(cuda, guarded):
    buffer = guarded(8)
    buffer.copy_from_host(b"01234567")
    with cuda.BufferWriter(buffer) as writer:
        writer.writeat(2, buffer.slice(0, 6))
    assert buffer.to_pybytes() == b"01012345"


SOURCES = st.sampled_from(["host", "CudaBuffer", "Buffer"])
actions = st.lists(
    st.one_of(
        st.tuples(st.just("write"), SOURCES, st.binary(max_size=12)),
        st.tuples(st.just("write"), st.just("host"), st.binary(max_size=12)),
        st.tuples(st.just("writeat"), SOURCES, st.integers(-2, 34), st.binary(max_size=12)),
        st.tuples(st.just("seek"), st.integers(-34, 34), st.integers(0, 1)),
        st.tuples(st.just("resize"), st.integers(0, 16)),
        st.tuples(st.just("flush")),
    ),
    max_size=25,
)


@settings(max_examples=150)
@given(size=st.integers(0, 32), work=actions)
@example(
    size=10,
    work=[
        ("resize", 8),
        ("seek", 2, 0),
        ("write", "host", b"abc"),
        ("writeat", "host", 1, b"XY"),
        ("write", "host", b"Z"),
    ],
)
@example(size=10, work=[("resize", 100), ("seek", 7, 0), ("write", "host", b"x" * 1000)])
def test_a_writer_is_like_a_file(cuda, ctx, guarded, size, work):
    """Against a bytearray that is written at once: buffering must not be noticeable."""
    buffer = guarded(size)
    model, position = bytearray(size), 0
    writer = cuda.BufferWriter(buffer)
    for name, *arguments in work:
        if name == "resize":
            writer.buffer_size = arguments[0]
            assert (writer.buffer_size, writer.num_bytes_buffered) == (arguments[0], 0)
            assert buffer.to_pybytes() == bytes(model)
        elif name == "flush":
            writer.flush()
            assert buffer.to_pybytes() == bytes(model)
        elif name == "seek":
            offset, whence = arguments
            target = offset + (position if whence else 0)
            if 0 <= target < size:
                assert writer.seek(offset, whence) == target
                position = target
            else:
                with pytest.raises(OSError, match=OUTSIDE):
                    writer.seek(offset, whence)
        else:
            kind, *place, data = arguments
            target = place[0] if place else position
            source = data if kind == "host" else ctx.buffer_from_data(data)
            if kind == "Buffer":
                source = pa.Buffer.slice(source)
            method = getattr(writer, name)
            if place and not 0 <= target < size:
                with pytest.raises(OSError, match=OUTSIDE):
                    method(*place, source)
            elif target + len(data) > size:
                with pytest.raises(OSError, match=FULL):
                    method(*place, source)
                # A failed `writeat` has moved, or not.
                assert writer.tell() in (target, position)
                position = writer.tell()
            else:
                method(*place, source)
                model[target : target + len(data)] = data
                position = target + len(data)
        assert writer.tell() == position
        assert writer.num_bytes_buffered < max(writer.buffer_size, 1)
    writer.close()
    assert buffer.to_pybytes() == bytes(model)
