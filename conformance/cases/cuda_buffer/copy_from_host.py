# From the host to the device: everything that fits, to a position, and so many bytes.
# shows: cuda_buffer, copy_from_host
#   CudaBuffer.copy_from_host: copies from the host into existing memory
#   CudaBuffer.copy_from_host(data): the source may be named
#   CudaBuffer.copy_from_host(position): where in this buffer the copy begins, in bytes
#   CudaBuffer.copy_from_host(nbytes): how many bytes to copy
#   CudaBuffer.copy_from_host(nbytes): default -1: the whole source, or as much as fits
#   CudaBuffer.copy_from_host: returns the number of bytes copied
#   CudaBuffer.copy_from_host(position): positions outside the buffer are refused
#   CudaBuffer.copy_from_host(nbytes): more bytes than the source has, or than fit, are refused
#   CudaBuffer.copy_from_host: the source: an Arrow buffer or anything that `py_buffer` accepts
import array

import numpy as np
import pyarrow as pa
from pyarrow import cuda

ctx = cuda.Context(0)


def copied(*arguments, **options):
    """How many bytes were copied into a buffer of dashes, and what it holds then."""
    buf = ctx.buffer_from_data(b"----------")
    return buf.copy_from_host(*arguments, **options), buf.to_pybytes()


# The number of bytes copied comes back.
copied(b"0123456789"), copied(b"abc"), copied(b"abc", position=4)
copied(b"abcdef", position=4, nbytes=2), copied(b"abcdef", nbytes=2)
copied(data=b"abcdef", position=0, nbytes=-1)
# Until the buffer is full.
copied(b"0123456789ABCDEF"), copied(b"abcdef", position=7), copied(b"X", 9, 1)
# Nothing, and at the end.
copied(b""), copied(b"abc", nbytes=0), copied(b"abc", 10)
# Into a slice: neighbours stay as they are.
buf = ctx.buffer_from_data(b"----------")
part = buf.slice(3, 4)
(part.copy_from_host(b"0123456789"), buf.to_pybytes())
(part.copy_from_host(b"xyz", position=3), buf.to_pybytes())

# Arguments that a copy from the host refuses; then it writes nothing.
whole = ctx.buffer_from_data(b"0123456789abcdef")
buf = whole.slice(3, 10)
buf.copy_from_host(data=b"xyz", position=-1)
buf.copy_from_host(b"xyz", position=11)
buf.copy_from_host(b"xyz", nbytes=4)
buf.copy_from_host(b"xyz", position=8, nbytes=3)
buf.copy_from_host(b"x" * 20, nbytes=11)
buf.copy_from_host(b"xyz", nbytes=None)
cuda.CudaBuffer.from_buffer(pa.Buffer.slice(whole, 0)).copy_from_host(b"xyz")
whole.to_pybytes()
# Any negative number of bytes stands for as many as fit.
buf.copy_from_host(b"xyz", position=8, nbytes=-9), whole.to_pybytes()

# A copy takes every source that `py_buffer` takes.
copied(b"bytes"), copied(bytearray(b"array")), copied(memoryview(b"0123456789")[3:6])
copied(array.array("i", [1, -1])), copied(np.array([258, 772], dtype=np.int16), position=2)
copied(np.array([[1, 2], [3, 4]], dtype=np.uint8)), copied(pa.py_buffer(b"Arrow"))
copied(pa.py_buffer(b"0123456789").slice(6), nbytes=2)
copied(pa.array([5, 6], pa.int8()).buffers()[1], nbytes=2)
copied(pa.allocate_buffer(3), nbytes=0)
# Page-locked memory.
pinned = cuda.new_host_buffer(4)
np.frombuffer(pinned, dtype=np.uint8)[:] = [65, 66, 67, 68]
copied(pinned), copied(pinned.slice(1, 2), position=6)
# Device memory is recognised, and not read as if it were the host's.
copied(ctx.buffer_from_data(b"device"))
copied(pa.Buffer.slice(ctx.buffer_from_data(b"device"), 3), position=1)
# Other objects are refused.
copied("text")
copied([1, 2, 3])
copied(np.arange(8, dtype=np.uint8)[::2])
ctx.new_buffer(3).copy_from_host(ctx.buffer_from_data(b"12345"))
