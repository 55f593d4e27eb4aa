# Another library allocates the device memory of buffers, arrays and tables.
# shows: additions, Memory of other allocators
#   set_allocator: lets another library allocate the device memory of new buffers; None undoes it
#   set_allocator(allocator): a memory resource, two functions, or one whose results own their
#     memory
#   set_allocator(context): the primary context of the device that it is for
#   CudaBuffer.export_for_ipc: refuses memory of an allocator that is part of another allocation
import pyarrow as pa
from pyarrow import cuda

from pyarrow_cuda_compat import set_allocator

ctx = cuda.Context(0)
# The other library's pool: a large block, of which it gives parts.
block = ctx.new_buffer(1 << 20)
parts = iter(range(block.address, block.address + block.size, 4096))


class Resource:
    def allocate(self, nbytes):
        print("allocate", nbytes)
        return next(parts)

    def deallocate(self, address, nbytes):
        print("deallocate", nbytes)


set_allocator(allocator=Resource(), context=ctx)
buf = ctx.buffer_from_data(b"in a pool")
buf.address == block.address
buf.to_pybytes()
table = pa.table({"a": [1, None], "b": ["x", "y"]}).copy_to(ctx.memory_manager)
table.copy_to(pa.default_cpu_memory_manager()).to_pydict()
# Other processes would reach the whole block.
buf.export_for_ipc()
del buf, table


# Its exception is raised; its result is checked.
def ignore(address, nbytes):
    pass


set_allocator((lambda nbytes: 1 / 0, ignore))
ctx.new_buffer(1)
set_allocator((lambda nbytes: 0, ignore))
ctx.new_buffer(1)
set_allocator((lambda nbytes: "here", ignore))
ctx.new_buffer(1)
set_allocator(lambda nbytes: object())
ctx.new_buffer(1)
set_allocator((lambda nbytes: bytes(1 << 60), ignore))
pa.array([1]).copy_to(ctx)


class Pointer:
    """An object that owns memory."""

    ptr = block.address


set_allocator(lambda nbytes: Pointer())
ctx.new_buffer(100).address == block.address
set_allocator((lambda nbytes: ctx.new_buffer(nbytes).address and next(parts), ignore))
ctx.new_buffer(8).size
set_allocator(None)
before = ctx.bytes_allocated
ours = ctx.new_buffer(100)
ctx.bytes_allocated - before
set_allocator(0)
set_allocator(None, context="0")
set_allocator(None, context=0)
