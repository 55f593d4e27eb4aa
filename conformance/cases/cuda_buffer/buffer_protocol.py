# Device memory has no address that the host could read: the buffer protocol is refused.
# shows: cuda_buffer, class
#   CudaBuffer: Python's buffer protocol is refused
# shows: integration, CUDA Buffers
#   pyarrow.Buffer.equals: code that expects a CPU buffer need not check for one
#   pyarrow.Buffer.equals: comparing a host buffer with a device buffer raises an error and does not
#     crash
#   CudaBuffer.equals: the safe way to compare the two
#   memoryview: the buffer protocol is refused for a device buffer
import hashlib
import io

import numpy as np
import pyarrow as pa
from pyarrow import cuda

ctx = cuda.Context(0)
buf = ctx.buffer_from_data(b"0123456789")
memoryview(buf)
bytes(buf)
np.frombuffer(buf, dtype=np.uint8)
pa.py_buffer(buf)
io.BytesIO(b"x" * 10).readinto(buf)
hashlib.sha256(buf)
memoryview(ctx.new_buffer(0))
# A generic view of it is refused as well, and the copy on the host is not.
memoryview(pa.Buffer.slice(buf, 0))
bytes(memoryview(buf.copy_to_host())), np.frombuffer(buf.copy_to_host(), dtype=np.uint8)[:3]
# Methods of host buffers refuse to read it as well; `CudaBuffer.equals` compares the two.
host = pa.py_buffer(b"0123456789")
host.equals(buf)
(buf.equals(host), buf.equals(pa.py_buffer(b"012345678x")), host.equals(buf.copy_to_host()))
pa.Buffer.to_pybytes(buf)
pa.Buffer.equals(buf, ctx.buffer_from_data(host))
b"".join([buf])
