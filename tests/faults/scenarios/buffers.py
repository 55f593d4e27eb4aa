"""Device buffers: copies, slices, fills, comparisons, and views of other memory."""

import numpy as np
import pyarrow as pa
from pyarrow import cuda

from . import scenario

CONTENT = b"0123456789"


@scenario()
def copies():
    buffer = cuda.Context().buffer_from_data(CONTENT)
    assert buffer.slice(2, 3).to_pybytes() == b"234"
    assert buffer.copy_to_host(1, 2).to_pybytes() == b"12"
    out = pa.allocate_buffer(4)
    buffer.copy_to_host(nbytes=4, buf=out)
    assert out.to_pybytes() == b"0123"
    assert buffer.copy_from_host(b"abc", position=7) == 3
    assert buffer.to_pybytes() == b"0123456abc"
    assert buffer[1:3].hex() == b"3132"


@scenario()
def copies_on_the_device():
    ctx = cuda.Context()
    buffer, other = ctx.buffer_from_data(CONTENT), ctx.new_buffer(10)
    other.copy_from_device(buffer)
    assert other.to_pybytes() == CONTENT
    other.copy_from_device(other.slice(0, 5), position=3)
    assert other.to_pybytes() == b"0120123489"
    other.fill(ord("x"), position=2, nbytes=3)
    assert other.to_pybytes() == b"01xxx23489"


@scenario()
def comparisons():
    ctx = cuda.Context()
    buffer, same = ctx.buffer_from_data(CONTENT), ctx.buffer_from_data(CONTENT)
    assert buffer.equals(same)
    assert not buffer.equals(ctx.buffer_from_data(b"0123456780"))
    assert buffer.equals(pa.py_buffer(CONTENT))
    assert not buffer.equals(pa.py_buffer(b"0123456780"))


@scenario()
def views():
    ctx = cuda.Context()
    buffer = ctx.buffer_from_data(CONTENT)
    view = ctx.foreign_buffer(buffer.address, 4, base=buffer)
    assert view.to_pybytes() == b"0123"
    generic = pa.Array.from_buffers(pa.uint8(), 10, [None, buffer]).buffers()[1]
    assert cuda.CudaBuffer.from_buffer(generic).address == buffer.address
    del buffer
    assert view.slice(1).to_pybytes() == b"123"


@scenario()
def several():
    ctx = cuda.Context()
    buffer = ctx.buffer_from_data(CONTENT)
    several = ctx.buffers_from_data([b"host", buffer, np.arange(3, dtype=np.uint8)])
    assert [each.to_pybytes() for each in several] == [b"host", CONTENT, bytes([0, 1, 2])]


@scenario()
def sizes():
    ctx = cuda.Context()
    buffers = [ctx.new_buffer(size) for size in (0, 1, 3000, 3 << 20, 40 << 20)]
    assert ctx.bytes_allocated == sum(buffer.size for buffer in buffers)
    del buffers[1:3]
    assert ctx.new_buffer(2000).size == 2000
    # Others may know the address, so the memory is reused after a fence.
    assert ctx.new_buffer(3000).address
    assert ctx.new_buffer(3000).address
