# Pyarrow allocates arrays, and what readers decode, in pinned memory.
# shows: additions, Memory pools
#   pinned_memory_pool: a memory pool for pyarrow's functions, whose memory copies to a device
#     directly
#   pinned_memory_pool(context): the context that pins the memory
#   PinnedMemoryPool: the class of these pools, a pyarrow.MemoryPool
#   PinnedMemoryPool.release_unused: returns all pinned memory that nothing uses to the system
import io
import subprocess
import sys

import pyarrow as pa
import pyarrow.csv as csv
from pyarrow import cuda

from pyarrow_cuda_compat import PinnedMemoryPool, pinned_memory_pool, pinned_memory_stats

ctx = cuda.Context(0)
pool = pinned_memory_pool(context=ctx)
isinstance(pool, PinnedMemoryPool), isinstance(pool, pa.MemoryPool)
pool.backend_name
array = pa.array([1, 2, None], memory_pool=pool)
values = array.buffers()[1]
ctx.get_device_address(values.address) == values.address
pool.bytes_allocated()
pinned_memory_pool().bytes_allocated()
# The device reads it where it is.
ctx.foreign_buffer(values.address, 16, base=values).to_pybytes()
table = csv.read_csv(io.BytesIO(b"a,b\n1,x\n2,y\n"), memory_pool=pool)
pool.bytes_allocated() > 128
there = table.copy_to(ctx.memory_manager)
there.copy_to(pa.default_cpu_memory_manager()).to_pydict()
# Arrays of some bytes share a block.
before = pinned_memory_stats()["driver_allocations"]
arrays = [pa.array([number, None], memory_pool=pool) for number in range(1000)]
pinned_memory_stats()["driver_allocations"] - before
# The pool gives back what nothing uses.
del arrays, array, values, table
pool.release_unused()
pinned_memory_stats()["cached_bytes"]
pa.allocate_buffer(1 << 50, memory_pool=pool)
# A forked process has no pinned memory, and so another pool by default.
program = """
import os
import pyarrow as pa
from pyarrow_cuda_compat import pinned_memory_pool
pa.set_memory_pool(pinned_memory_pool())
print(pa.default_memory_pool().backend_name, flush=True)
if os.fork() == 0:
    print(pa.default_memory_pool().backend_name == "pinned", flush=True)
else:
    os.wait()
"""
command = [sys.executable, "-W", "ignore", "-c", program]
print(subprocess.run(command, capture_output=True, text=True, check=True).stdout, end="")

PinnedMemoryPool()
pinned_memory_pool(0).bytes_allocated()
pinned_memory_pool("0")
