# The size is in bytes, whatever the items of the source were.
# shows: cuda_buffer, size
#   CudaBuffer.size: the size in bytes
import numpy as np
import pyarrow as pa
from pyarrow import cuda

ctx = cuda.Context(0)
[ctx.new_buffer(size).size for size in (0, 1, 511, 512, 513, 1 << 20, (1 << 20) + 1)]
ctx.buffer_from_data(np.zeros(5, dtype=np.float64)).size
ctx.buffer_from_data(pa.array([1, 2, 3], pa.int16()).buffers()[1].slice(0, 6)).size
buf = ctx.new_buffer(10)
(buf.size, len(buf), type(buf.size))
(buf.slice(3).size, buf.slice(3, 4).size, buf[-2:].size, buf.slice(0, 0).size)
cuda.CudaBuffer.from_buffer(pa.Buffer.slice(buf, 7)).size
ctx.foreign_buffer(buf.address, 6, base=buf).size
(buf.copy_to_host().size, len(buf.to_pybytes()), len(buf.hex()))
buf.size = 3
