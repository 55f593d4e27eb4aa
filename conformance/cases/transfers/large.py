# Large copies arrive whole, with two threads and with the limits of the machine.
# shows: additions, Copies by several threads
#   CudaBuffer.copy_to_host: every kind of copy is complete, in the right place and in order
import numpy as np
from pyarrow import cuda

from pyarrow_cuda_compat import set_transfer_limits

ctx = cuda.Context(0)
numbers = np.random.default_rng(7)
data = numbers.integers(0, 256, 130 << 20, np.uint8)
buf = ctx.new_buffer(len(data) + 9)
pinned = cuda.new_host_buffer(len(data))
wrong = []
for size in ((9 << 20) + 3, (17 << 20) + 1, (49 << 20) + 5, (100 << 20) - 1, 130 << 20):
    part = data[-size:]
    set_transfer_limits(threads=2 if size < 60 << 20 else None)
    buf.fill(0)
    _ = buf.copy_from_host(part, position=5)
    there = {
        "new": buf.copy_to_host(position=5, nbytes=size),
        "pinned": buf.copy_to_host(position=5, nbytes=size, buf=pinned).slice(0, size),
        "bytes": buf.slice(5, size).to_pybytes(),
        "reader": cuda.BufferReader(buf.slice(5, size)).read(),
    }
    buf.fill(0)
    _ = buf.copy_from_host(pinned, position=5, nbytes=size)
    there["from pinned"] = buf.copy_to_host(position=5, nbytes=size)
    copy = ctx.new_buffer(size)
    _ = copy.copy_from_device(buf.slice(5, size))
    there["device"] = copy.copy_to_host()
    wrong += [(size, way) for way, found in there.items() if bytes(found) != part.tobytes()]
    wrong += [(size, index) for index in (*range(5), *range(-4, 0)) if buf[index]]

wrong
