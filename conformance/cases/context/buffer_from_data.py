# Device memory is made from anything that holds bytes.
# shows: pyarrow_cuda
#   Context.buffer_from_data: a CudaBuffer that holds a copy of the data
#   Context.buffer_from_data(data): a CudaBuffer, a HostBuffer, a Buffer or anything with the buffer
#     protocol
#   Context.buffer_from_data(offset): where in the data to begin, in bytes; 0 by default; outside
#     the data raises a ValueError
#   Context.buffer_from_data(size): how many bytes; by default, and when negative, all from the
#     offset on; more than there are raises a ValueError
# shows: integration, CUDA Buffers
#   Context.buffer_from_data: any object with Python's buffer protocol
#   Context.buffer_from_data: Arrow's buffers
import array

import numpy as np
import pyarrow as pa
from pyarrow import cuda

ctx = cuda.Context()
buf = ctx.buffer_from_data(b"0123456789")
type(buf), buf.size, buf.is_mutable, buf.is_cpu, buf.to_pybytes()
ctx.buffer_from_data(data=bytearray(b"bytearray")).to_pybytes()
ctx.buffer_from_data(memoryview(b"memoryview")[2:6]).to_pybytes()
ctx.buffer_from_data(np.arange(3, dtype=np.uint16)).to_pybytes()
ctx.buffer_from_data(np.arange(4, dtype=np.uint8).reshape(2, 2)).to_pybytes()
ctx.buffer_from_data(array.array("B", [7, 8, 9])).to_pybytes()
ctx.buffer_from_data(pa.py_buffer(b"Arrow buffer")).to_pybytes()
ctx.buffer_from_data(pa.py_buffer(b"Arrow buffer").slice(6, 3)).to_pybytes()
ctx.buffer_from_data(np.float64(1.5)).to_pybytes()
ctx.buffer_from_data(pa.array([1, 2], pa.int8()).buffers()[1]).to_pybytes()[:2]
pinned = cuda.new_host_buffer(6)
pa.BufferReader(b"pinned").readinto(pinned), ctx.buffer_from_data(pinned).to_pybytes()
# From a device buffer: a copy, not a view.
copy = ctx.buffer_from_data(buf)
copy.to_pybytes(), copy.address == buf.address, copy.copy_from_host(b"X"), buf.to_pybytes()
ctx.buffer_from_data(buf.slice(4, 3)).to_pybytes(), ctx.buffer_from_data(b"").size
ctx.buffer_from_data("text")
ctx.buffer_from_data(pa.array([1]))
ctx.buffer_from_data(np.arange(6, dtype=np.uint8)[::2])

# Device memory is made from a part of the data.
host = b"0123456789"
device = ctx.buffer_from_data(host)
for data in (host, device):
    print(ctx.buffer_from_data(data, offset=4).to_pybytes())
    print(ctx.buffer_from_data(data, size=3).to_pybytes())
    print(ctx.buffer_from_data(data, offset=2, size=5).to_pybytes())
    print(ctx.buffer_from_data(data, 8, 2).to_pybytes())
    print(ctx.buffer_from_data(data, 9).size, ctx.buffer_from_data(data, 3, 0).size)
# A negative size means all that is left.
ctx.buffer_from_data(host, offset=6, size=-1).to_pybytes()
ctx.buffer_from_data(host, 6, -7).to_pybytes()
# A part beyond the end is refused.
ctx.buffer_from_data(host, offset=-1)
ctx.buffer_from_data(host, offset=10)
ctx.buffer_from_data(host, size=11)
ctx.buffer_from_data(device, offset=8, size=3)
ctx.buffer_from_data(b"", offset=0, size=0).size
