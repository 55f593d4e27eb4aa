# A copy takes every source that `py_buffer` takes.
# shows: cuda_buffer, copy_from_host
#   CudaBuffer.copy_from_host: the source: an Arrow buffer or anything that `py_buffer` accepts
import array

import numpy as np
import pyarrow as pa
from pyarrow import cuda

ctx = cuda.Context(0)
buf = ctx.new_buffer(8)


def copied(data, **options):
    buf.copy_from_host(b"-" * 8)
    return buf.copy_from_host(data, **options), buf.to_pybytes()


copied(b"bytes")
copied(bytearray(b"array"))
copied(memoryview(b"0123456789")[3:6])
copied(array.array("i", [1, -1]))
copied(np.array([258, 772], dtype=np.int16), position=2)
copied(np.array([[1, 2], [3, 4]], dtype=np.uint8))
copied(pa.py_buffer(b"Arrow"))
copied(pa.py_buffer(b"0123456789").slice(6), nbytes=2)
copied(pa.array([5, 6], pa.int8()).buffers()[1], nbytes=2)
copied(pa.allocate_buffer(3), nbytes=0)

# Page-locked memory.
pinned = cuda.new_host_buffer(4)
np.frombuffer(pinned, dtype=np.uint8)[:] = [65, 66, 67, 68]
copied(pinned)
copied(pinned.slice(1, 2), position=6)

# Device memory is recognised, and not read as if it were the host's.
copied(ctx.buffer_from_data(b"device"))
copied(pa.Buffer.slice(ctx.buffer_from_data(b"device"), 3), position=1)

# Other objects are refused.
copied("text")
copied(7)
copied(None)
copied([1, 2, 3])
copied(np.arange(8, dtype=np.uint8)[::2])
buf.to_pybytes()
ctx.new_buffer(3).copy_from_host(ctx.buffer_from_data(b"12345"))
