# A copy into a host buffer that is there already.
# shows: cuda_buffer, copy_to_host
#   CudaBuffer.copy_to_host(buf): a host buffer to copy into, until it is full
#   CudaBuffer.copy_to_host(buf): returns the host buffer: the given one, if any
import pyarrow as pa
from pyarrow import cuda

ctx = cuda.Context(0)
buf = ctx.buffer_from_data(b"0123456789")
memory = bytearray(b"-" * 6)
out = pa.py_buffer(memory)

# It is what comes back, and it is filled from its start until it is full.
buf.copy_to_host(buf=out) is out
memory
memory[:] = b"-" * 6
buf.copy_to_host(position=7, buf=out) is out
memory
memory[:] = b"-" * 6
buf.copy_to_host(position=2, nbytes=3, buf=out).size
memory
memory[:] = b"-" * 6
buf.copy_to_host(1, 2, out).to_pybytes()

# Nothing to copy, or nowhere to put it.
memory[:] = b"-" * 6
buf.copy_to_host(position=10, buf=out).to_pybytes()
buf.copy_to_host(nbytes=0, buf=out).to_pybytes()
buf.copy_to_host(buf=pa.allocate_buffer(0)).size

# More than there is room for, or than there is: nothing is written.
buf.copy_to_host(nbytes=7, buf=out)
buf.copy_to_host(position=8, nbytes=3, buf=out)
buf.copy_to_host(position=11, buf=out)
memory
# Nor is memory that is read-only or lies on the device.
constant, other = bytes(bytearray(b"constant")), ctx.buffer_from_data(b"..........")
buf.copy_to_host(buf=pa.py_buffer(constant))
buf.copy_to_host(buf=other)
(constant, other.to_pybytes())

# A part of a buffer, an allocated one and a page-locked one.
view = memoryview(memory)[2:4]
buf.copy_to_host(buf=pa.py_buffer(view)).size
memory
buf.copy_to_host(buf=pa.allocate_buffer(10)).to_pybytes()
buf.copy_to_host(position=5, buf=cuda.new_host_buffer(5)).to_pybytes()
type(buf.copy_to_host(buf=cuda.new_host_buffer(5)))
