# The base of a foreign buffer lives as long as any buffer over the memory.
# shows: pyarrow_cuda, Context.foreign_buffer
#   Context.foreign_buffer(base): the owner of the memory, which the buffer retains; none by default
import gc
import weakref

from pyarrow import cuda


class Owner:
    def __init__(self, buffer):
        self.buffer = buffer


ctx = cuda.Context()
before = ctx.bytes_allocated
owner = Owner(ctx.buffer_from_data(b"0123456789"))
gone = weakref.ref(owner)
view = ctx.foreign_buffer(owner.buffer.address, 10, owner)
del owner
gone() is None
view.to_pybytes()
ctx.bytes_allocated - before
del view
_ = gc.collect()
gone() is None
ctx.bytes_allocated - before
# No base is named by default: the memory is the caller's to keep.
memory = ctx.buffer_from_data(b"kept")
ctx.foreign_buffer(memory.address, 4, base=None).to_pybytes()
