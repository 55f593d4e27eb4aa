"""`BufferWriter`: what is written, where, and when it reaches the device."""

import gc

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

CLOSED = "^I/O operation on closed file$"
OUTSIDE = "^position out of bounds$"
FULL = "do not fit into a device buffer of"


def test_a_writer_says_what_it_is(cuda, guarded):
    with cuda.BufferWriter(guarded(10)) as writer:
        assert isinstance(writer, pa.NativeFile)
        assert (writer.mode, writer.tell(), writer.closed) == ("wb", 0, False)
        assert (writer.readable(), writer.writable()) == (False, True)
        assert (writer.buffer_size, writer.num_bytes_buffered) == (0, 0)
        with pytest.raises(OSError, match="only valid on readable files"):
            writer.read(1)


def test_unbuffered_writes_are_there_at_once(cuda, guarded):
    buffer = guarded(10)
    with cuda.BufferWriter(buffer) as writer:
        writer.write(b"abc")
        assert buffer.to_pybytes() == b"abc" + bytes(7)
        writer.write(np.frombuffer(b"defg", np.uint8))
        assert (writer.tell(), buffer.to_pybytes()) == (7, b"abcdefg" + bytes(3))


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
        assert writer.tell() == 2
    assert buffer.to_pybytes() == b"ab" + bytes(8)


def test_seek_counts_from_the_start_or_the_position(cuda, guarded):
    with cuda.BufferWriter(guarded(10)) as writer:
        assert writer.seek(9) == writer.tell() == 9
        assert writer.seek(-4, 1) == writer.tell() == 5
        for whence in (-1, 2, 3):
            with pytest.raises(ValueError, match="Invalid value of whence"):
                writer.seek(0, whence)
        with pytest.raises(OSError, match=OUTSIDE):
            writer.seek(2**63 - 1, 1)
        assert writer.tell() == 5


@pytest.mark.parametrize("buffered", [0, 1, 4, 100])
@pytest.mark.parametrize("data", [b"x" * 4, b"x" * 11, b"x" * 1000, b"x" * 100_000])
def test_writes_past_the_end_fail_as_a_whole(cuda, guarded, buffered, data):
    buffer = guarded(10)
    with cuda.BufferWriter(buffer) as writer:
        writer.buffer_size = buffered
        writer.write(b"1234567")
        with pytest.raises(OSError, match=FULL):
            writer.write(data)
        assert writer.tell() == 7
        with pytest.raises(OSError, match=FULL):
            writer.writeat(8, data)
        writer.seek(7)
        writer.write(b"890")
        with pytest.raises(OSError, match=FULL):
            writer.write(b"x")
        writer.write(b"")
    assert buffer.to_pybytes() == b"1234567890"


@pytest.mark.parametrize("position", [0, 1, 4, 7])
def test_writeat_while_bytes_are_buffered(cuda, guarded, position):
    buffer = guarded(10)
    expected = bytearray(b"\0\0abc\0\0\0\0\0")
    with cuda.BufferWriter(buffer) as writer:
        writer.buffer_size = 8
        writer.seek(2)
        writer.write(b"abc")
        assert (writer.num_bytes_buffered, buffer.to_pybytes()) == (3, bytes(10))
        writer.writeat(position, b"XY")
        expected[position : position + 2] = b"XY"
        assert writer.tell() == position + 2
        writer.write(b"Z")
        expected[position + 2] = ord("Z")
        writer.flush()
        assert buffer.to_pybytes() == bytes(expected)


def test_a_write_that_fills_the_buffer_goes_out(cuda, guarded):
    buffer = guarded(10)
    with cuda.BufferWriter(buffer) as writer:
        writer.buffer_size = 4
        assert writer.buffer_size == 4
        writer.write(b"abc")
        assert (writer.num_bytes_buffered, writer.tell()) == (3, 3)
        writer.write(b"d")
        assert (writer.num_bytes_buffered, buffer.to_pybytes()[:4]) == (0, b"abcd")
        writer.write(b"ef")
        writer.write(b"ghij")
        assert (writer.num_bytes_buffered, buffer.to_pybytes()) == (0, b"abcdefghij")


@pytest.mark.parametrize("size", [0, 2, 4, 9])
def test_a_new_buffer_size_flushes(cuda, guarded, size):
    buffer = guarded(10)
    with cuda.BufferWriter(buffer) as writer:
        writer.buffer_size = 4
        writer.write(b"abc")
        writer.buffer_size = size
        assert (writer.buffer_size, writer.num_bytes_buffered) == (size, 0)
        assert buffer.to_pybytes()[:3] == b"abc"


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
        writer.write(b"d")
    assert buffer.to_pybytes() == b"abcd" + bytes(6)


@pytest.mark.parametrize("end", ["close", "drop", "with", "seek", "flush"])
def test_buffered_bytes_reach_the_device(cuda, guarded, end):
    buffer = guarded(10)
    writer = cuda.BufferWriter(buffer)
    writer.buffer_size = 8
    writer.write(b"abc")
    assert buffer.to_pybytes() == bytes(10)
    if end == "close":
        writer.close()
    elif end == "with":
        with writer:
            pass
    elif end == "seek":
        writer.seek(9)
    elif end == "flush":
        writer.flush()
    else:
        del writer
        gc.collect()
    assert buffer.to_pybytes() == b"abc" + bytes(7)


def test_a_closed_writer_refuses(cuda, guarded):
    buffer = guarded(10)
    writer = cuda.BufferWriter(buffer)
    writer.close()
    writer.close()
    assert writer.closed

    def resize():
        writer.buffer_size = 4

    for work in (
        writer.tell,
        writer.flush,
        resize,
        lambda: writer.write(b""),
        lambda: writer.write(b"x"),
        lambda: writer.writeat(0, b"x"),
        lambda: writer.writeat(0, buffer),
        lambda: writer.seek(0),
    ):
        with pytest.raises(ValueError, match=CLOSED):
            work()
    assert buffer.to_pybytes() == bytes(10)


@pytest.mark.parametrize("buffered", [0, 4])
@pytest.mark.parametrize("slices", ["CudaBuffer", "Buffer"])
def test_device_data_is_written(cuda, ctx, guarded, buffered, slices):
    buffer = guarded(10)
    source = ctx.buffer_from_data(b"0123456789")
    if slices == "Buffer":
        array = pa.Array.from_buffers(pa.uint8(), 10, [None, source])
        source = array.buffers()[1]
        assert type(source) is pa.Buffer
    with cuda.BufferWriter(buffer) as writer:
        writer.buffer_size = buffered
        writer.write(b"ab")
        writer.writeat(1, source.slice(2, 3))
        assert writer.tell() == 4
        assert buffer.to_pybytes() == b"a234" + bytes(6)
        with pytest.raises(OSError, match=FULL):
            writer.writeat(1, source)
        with pytest.raises(OSError, match=OUTSIDE):
            writer.writeat(10, source)
        writer.seek(4)
        writer.write(source.slice(0, 6))
        assert writer.tell() == 10
        assert buffer.to_pybytes() == b"a234012345"


def test_device_data_of_another_device_is_written(cuda, other_ctx, guarded):
    buffer = guarded(4)
    with cuda.BufferWriter(buffer) as writer:
        writer.writeat(0, other_ctx.buffer_from_data(b"abcd"))
    assert buffer.to_pybytes() == b"abcd"


def test_a_writer_may_write_its_own_buffer(cuda, guarded):
    buffer = guarded(8)
    buffer.copy_from_host(b"01234567")
    with cuda.BufferWriter(buffer) as writer:
        writer.writeat(2, buffer.slice(0, 6))
    assert buffer.to_pybytes() == b"01012345"


def test_an_immutable_buffer_is_refused(cuda, ctx):
    class ReadOnly:
        def __init__(self, buffer):
            self.buffer = buffer
            self.__cuda_array_interface__ = {
                "shape": (buffer.size,),
                "typestr": "|u1",
                "data": (buffer.address, True),
                "version": 3,
            }

    source = ctx.buffer_from_data(b"0123456789")
    frozen = ctx.buffer_from_object(ReadOnly(source))
    assert not frozen.is_mutable
    for target in (frozen, frozen.slice(2)):
        with pytest.raises((ValueError, TypeError, OSError)):
            cuda.BufferWriter(target)
    assert source.to_pybytes() == b"0123456789"


def test_a_writer_of_no_bytes(cuda, ctx):
    with cuda.BufferWriter(ctx.new_buffer(0)) as writer:
        writer.write(b"")
        with pytest.raises(OSError, match=FULL):
            writer.write(b"x")
        with pytest.raises(OSError, match=OUTSIDE):
            writer.seek(0)
        writer.buffer_size = 4
        with pytest.raises(OSError, match=FULL):
            writer.write(b"x")
        assert writer.tell() == 0


def test_what_is_no_data_is_refused(cuda, guarded):
    buffer = guarded(4)
    with cuda.BufferWriter(buffer) as writer:
        for nothing in (None, "text", 7, object()):
            with pytest.raises(TypeError):
                writer.write(nothing)
            with pytest.raises(TypeError):
                writer.writeat(0, nothing)
    assert buffer.to_pybytes() == bytes(4)


@pytest.mark.parametrize("buffered", [0, 64, 1 << 20])
def test_a_stream_is_written_and_read_on_the_device(cuda, guarded, buffered):
    batch = pa.record_batch({"a": [1, None, 3], "s": ["x", None, "yy"], "l": [[1], [], None]})
    buffer = guarded(8192)
    with cuda.BufferWriter(buffer) as writer:
        writer.buffer_size = buffered
        with pa.ipc.new_stream(writer, batch.schema) as stream:
            for start in range(3):
                stream.write_batch(batch.slice(start))
        end = writer.tell()
    with pa.ipc.open_stream(cuda.BufferReader(buffer.slice(0, end))) as stream:
        back = [part.copy_to(pa.default_cpu_memory_manager()) for part in stream]
    assert back == [batch.slice(start) for start in range(3)]


actions = st.lists(
    st.one_of(
        st.tuples(st.just("write"), st.binary(max_size=12)),
        st.tuples(st.just("write"), st.binary(max_size=12)),
        st.tuples(st.just("write_device"), st.binary(max_size=12)),
        st.tuples(st.just("writeat"), st.integers(-2, 34), st.binary(max_size=12)),
        st.tuples(st.just("writeat_device"), st.integers(-2, 34), st.binary(max_size=12)),
        st.tuples(st.just("seek"), st.integers(-34, 34), st.integers(0, 1)),
        st.tuples(st.just("resize"), st.integers(0, 16)),
        st.tuples(st.just("flush")),
    ),
    max_size=25,
)


@settings(max_examples=150)
@given(size=st.integers(1, 32), work=actions)
def test_a_writer_is_like_a_file(cuda, ctx, guarded, size, work):
    """Against a bytearray that is written at once: buffering must not be noticeable."""
    buffer = guarded(size)
    model, position = bytearray(size), 0
    writer = cuda.BufferWriter(buffer)
    for name, *arguments in work:
        if name == "resize":
            writer.buffer_size = arguments[0]
            assert (writer.buffer_size, writer.num_bytes_buffered) == (arguments[0], 0)
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
            *place, data = arguments
            target = place[0] if place else position
            source = ctx.buffer_from_data(data) if name.endswith("device") else data
            method = getattr(writer, name.removesuffix("_device"))
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


ON_THEIR_WAY = """
import os
from pyarrow import cuda

buffer = cuda.Context().buffer_from_data(bytes(1 << 20))
writer = cuda.BufferWriter(buffer)
writer.buffer_size = 1 << 16
for _ in range(11):
    writer.write(bytes(range(256)) * 64)
assert writer.num_bytes_buffered > 0
"""


def test_a_process_ends_with_bytes_on_their_way(run_python):
    code = ON_THEIR_WAY + "print('done')"
    assert run_python(code, CUDA_SIM_LATENCY="2000") == (0, "done\n", "")


def test_a_forked_child_is_refused_and_the_parent_goes_on(run_python):
    code = (
        ON_THEIR_WAY
        + """
import warnings

warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12 warns of forks with threads
child = os.fork()
if child == 0:
    for work in (lambda: writer.write(b"child"), writer.flush, writer.close):
        try:
            work()
        except OSError:
            pass
        else:
            os._exit(1)
    del writer, buffer
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
writer.close()
assert buffer.slice(0, 11 << 14).to_pybytes() == bytes(range(256)) * 64 * 11
print("done")
"""
    )
    assert run_python(code, CUDA_SIM_LATENCY="2000") == (0, "done\n", "")
