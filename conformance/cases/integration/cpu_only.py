# Where a buffer of the host is expected and one of the device comes.
# shows: integration, CUDA Buffers
#   pyarrow.Buffer.equals: code that expects a CPU buffer need not check for one
#   pyarrow.Buffer.equals: comparing a host buffer with a device buffer raises an error and does not
#     crash
#   CudaBuffer.equals: the safe way to compare the two
#   memoryview: the buffer protocol is refused for a device buffer
import numpy as np
import pyarrow as pa
from pyarrow import cuda

ctx = cuda.Context(0)
cuda_buf = ctx.buffer_from_data(b"x" * 16)
host = pa.py_buffer(b"x" * 16)

# Ask first: the buffer knows where it lies.
(cuda_buf.is_cpu, host.is_cpu)
(cuda_buf.device_type, host.device_type)

# The host's buffer refuses to read what is not the host's.
host.equals(cuda_buf)

# The device's buffer compares with both, and brings itself to the host.
cuda_buf.equals(host)
cuda_buf.equals(pa.py_buffer(b"x" * 15 + b"y"))
cuda_buf.equals(ctx.buffer_from_data(host))
host.equals(cuda_buf.copy_to_host())

# Nothing gets at the bytes by the buffer protocol.
memoryview(cuda_buf)
bytes(cuda_buf)
np.frombuffer(cuda_buf, dtype=np.uint8)
pa.py_buffer(cuda_buf)
b"".join([cuda_buf])

# The methods of the base class that read on the host refuse as well.
pa.Buffer.to_pybytes(cuda_buf)
pa.Buffer.hex(cuda_buf)
pa.Buffer.equals(cuda_buf, ctx.buffer_from_data(host))
