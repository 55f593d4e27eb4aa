"""`Context.buffers_from_data`: one allocation and one copy for the data of many objects."""

import numpy as np
import pyarrow as pa
import pytest


@pytest.mark.simulator
def test_they_are_one_allocation_and_one_copy(ctx, calls):
    objects = [bytes([number]) * number for number in range(200)]
    names = (b"cuMemAlloc", b"cuMemcpyHtoDAsync")
    buffers, made = calls(lambda: ctx.buffers_from_data(objects), *names)
    assert made in ([0, 1], [1, 1])
    assert [buffer.to_pybytes() for buffer in buffers] == objects


def test_objects_of_every_kind_and_place(cuda, ctx, other_ctx):
    pinned = cuda.new_host_buffer(3 << 20)
    np.frombuffer(pinned, np.uint8)[:] = 7
    here, there = ctx.buffer_from_data(b"0123456789"), other_ctx.buffer_from_data(b"there")
    objects = [
        b"bytes",
        pinned,
        here.slice(2, 3),
        np.arange(300_000),
        there,
        bytearray(),
        pa.array([1, 2, 3]).buffers()[1],
        here,
        pa.array([1, 2]).copy_to(other_ctx.device).buffers()[1],
    ]
    for context in (ctx, other_ctx):
        buffers = context.buffers_from_data(objects)
        for buffer, each in zip(buffers, objects, strict=True):
            assert buffer.context.handle == context.handle
            assert buffer.to_pybytes() == context.buffer_from_data(each).to_pybytes()
        # Writing to one leaves the others alone.
        buffers[0].copy_from_host(b"BYTES")
        assert buffers[2].to_pybytes() == b"234"
        assert here.to_pybytes() == b"0123456789"


def test_one_of_them_is_enough_to_use_and_to_release(ctx):
    before = ctx.bytes_allocated
    kept = ctx.buffers_from_data([b"one", b"two", b"three"])[1]
    assert kept.to_pybytes() == b"two"
    assert kept.equals(ctx.buffer_from_data(b"two"))
    del kept
    assert ctx.bytes_allocated == before


def test_an_iterator_that_raises(ctx):
    def objects():
        yield b"one"
        raise LookupError("no more")

    with pytest.raises(LookupError, match="no more"):
        ctx.buffers_from_data(objects())


NO_ROOM = """
import pyarrow_cuda_compat as cuda
ctx = cuda.Context(0)
kept = ctx.buffer_from_data(bytes(1 << 20))
try:
    ctx.buffers_from_data([bytes(3 << 20), kept] * 10)
except cuda.OutOfMemoryError as error:
    assert "bytes are free on device 0" in str(error), error
else:
    raise AssertionError("no error")
assert ctx.bytes_allocated == 1 << 20
assert [each.size for each in ctx.buffers_from_data([b"fits", kept])] == [4, 1 << 20]
"""


@pytest.mark.simulator
def test_a_device_without_room(run_python):
    assert run_python(NO_ROOM, CUDA_SIM_MEMORY=str(16 << 20)) == (0, "", "")
