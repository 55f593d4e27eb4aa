# Where that is asked for, nobody gets memory with the bytes of earlier buffers.
# environment: PYARROW_CUDA_ZERO=on
# shows: additions, Released memory
#   PYARROW_CUDA_ZERO: new memory is zeroed, on the device and in pinned memory
from functools import partial

import pyarrow as pa
from pyarrow import cuda

from pyarrow_cuda_compat import pinned_memory_pool

ctx = cuda.Context(0)
allocate = partial(pa.allocate_buffer, memory_pool=pinned_memory_pool(), resizable=True)
size = 1 << 20
for new in ctx.new_buffer, cuda.new_host_buffer, allocate:
    buf = new(size)
    ctx.foreign_buffer(buf.address, size, base=buf).fill(7)
    del buf
    print({new(size).to_pybytes() == bytes(size) for _ in range(8)})
# Nor does an allocation grow by such bytes.
buf = allocate(128)
ctx.foreign_buffer(buf.address, 128, base=buf).fill(7)
buf.resize(64, shrink_to_fit=True), buf.resize(128)
buf.to_pybytes() == bytes([7]) * 64 + bytes(64)
