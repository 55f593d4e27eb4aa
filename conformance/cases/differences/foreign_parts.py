# The base of foreign memory lives as long as any part of it is in use.
# shows: pyarrow_cuda
#   Context.foreign_buffer(base): the owner of the memory, which the buffer retains; none by default
import gc
import weakref

import pyarrow as pa
from pyarrow import cuda


class Owner:
    def __init__(self, buffer):
        self.buffer = buffer


ctx = cuda.Context()


def is_kept(use):
    owner = Owner(ctx.buffer_from_data(b"0123456789abcdef"))
    gone = weakref.ref(owner)
    user = use(ctx.foreign_buffer(owner.buffer.address, 16, base=owner))
    del owner
    gc.collect()
    kept = gone() is not None
    del user
    gc.collect()
    return kept, gone() is None


is_kept(lambda buf: buf), is_kept(lambda buf: buf.slice(2, 4)), is_kept(lambda buf: buf[2:][1:])
is_kept(lambda buf: pa.Buffer.slice(buf, 1)), is_kept(lambda buf: cuda.BufferReader(buf))
is_kept(lambda buf: cuda.BufferReader(buf).read_buffer(4))
is_kept(lambda buf: cuda.BufferWriter(buf))
is_kept(lambda buf: pa.Array.from_buffers(pa.int64(), 2, [None, buf]))
# No base is named by default: the memory is the caller's to keep.
memory = ctx.buffer_from_data(b"kept")
ctx.foreign_buffer(memory.address, 4, base=None).to_pybytes()
