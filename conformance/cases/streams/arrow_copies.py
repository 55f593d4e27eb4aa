# Arrays, batches and tables are copied on a stream.
# shows: additions, Streams
#   pyarrow.Table.copy_to(stream): on a stream: from device memory and pinned memory to a device it
#     returns at once, else when the copy is complete
#   pyarrow.RecordBatch.copy_to(stream): on a stream
import ctypes
import re

import numpy as np
import pyarrow as pa
from pyarrow import cuda

from pyarrow_cuda_compat import Stream, set_cache_limit

ctx = cuda.Context()
host = pa.default_cpu_memory_manager()
stream = Stream(ctx, non_blocking=True)
table = pa.table({"x": [1, None, 3], "s": ["one", None, "three"]})
# From pageable memory, and to it, the copy is complete when the call returns.
there = table.copy_to(ctx.device, stream=stream)
there.copy_to(host, stream=stream).equals(table)
# From device memory and from pinned memory it returns at once, and retains both ends.
again = there.copy_to(ctx.memory_manager, stream=stream)
pinned = cuda.new_host_buffer(80)
np.frombuffer(pinned, np.int64)[:] = range(10)
array = pa.Array.from_buffers(pa.int64(), 10, [None, pinned], null_count=0)
batch = pa.record_batch([array], ["x"]).copy_to(ctx.device, stream=stream)
del there, pinned, array
stream.synchronize()
again.copy_to(host).equals(table)
batch.copy_to(host).to_pydict()
# So it does from offsets that the stream has yet to write.
words = pa.array([f"{number:03}" for number in range(300)])
offsets, letters = (ctx.buffer_from_data(part) for part in words.buffers()[1:])
pinned = cuda.new_host_buffer(offsets.size)
_ = offsets.copy_to_host(buf=pinned)
offsets.fill(0)
late = pa.Array.from_buffers(pa.string(), 300, [None, offsets, letters], null_count=0)
driver = ctypes.CDLL(re.search(r"/\S*libcuda(_sim)?\.so\S*", open("/proc/self/maps").read())[0])
libc, semaphore = ctypes.CDLL(None), ctypes.create_string_buffer(64)
_ = driver.cuCtxSetCurrent(ctypes.c_void_p(ctx.handle)), libc.sem_init(semaphore, 0, 0)
_ = driver.cuLaunchHostFunc(ctypes.c_void_p(stream.handle), libc.sem_wait, semaphore)
offsets.copy_from_host(pinned, stream=stream)
part = late.slice(290, 2).copy_to(ctx, stream=stream)
stream.query()
_ = libc.sem_post(semaphore)
stream.synchronize()
part.copy_to(host).to_pylist()
# The bytes that earlier buffers have left between two columns are wiped.
set_cache_limit(64 << 20, ctx)


def residue(columns, stream):
    """How many of those bytes a copy has."""
    ctx.new_buffer(2 << 20).fill(ord("x"))
    table = pa.table(columns, ["a", "b"]).copy_to(ctx, stream=stream)
    first, last = (column.chunk(0).buffers()[1] for column in table.columns)
    end, gap = first.address + first.size, (ctypes.c_char * 248)()
    ctx.synchronize()
    _ = driver.cuMemcpyDtoH_v2(gap, ctypes.c_uint64(end), ctypes.c_size_t(last.address - end))
    return last.address - end, gap.raw.count(b"x")


blocks = [cuda.new_host_buffer(800_008) for _ in range(2)]
columns = [pa.Array.from_buffers(pa.int64(), 100_001, [None, block]) for block in blocks]
apart = [column.copy_to(ctx) for column in columns][::-1]
[residue(each, on) for each in (columns, apart) for on in (None, stream)]
# A handle alone is no stream.
try:
    table.copy_to(ctx.device, stream=stream.handle)
except TypeError as error:
    print(str(error).partition(":")[0])
