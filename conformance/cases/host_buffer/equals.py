# Page-locked memory equals other memory by its bytes.
# shows: pyarrow_cuda
#   HostBuffer.equals: whether both hold the same bytes
#   HostBuffer.equals(other): another buffer
# shows: additions, Page-locked memory
#   HostBuffer.equals: equality with device memory
import pyarrow as pa
from pyarrow import cuda

buf = cuda.new_host_buffer(4)
pa.BufferReader(b"same").readinto(buf)
buf.equals(pa.py_buffer(b"same"))
buf.equals(pa.py_buffer(b"some"))
buf.equals(pa.py_buffer(b"same!"))
buf.equals(buf)
other = cuda.new_host_buffer(4)
pa.BufferReader(b"same").readinto(other)
buf.equals(other=other)
buf == other
# Device memory, too, from both sides.
there = cuda.Context().buffer_from_data(b"same")
(buf.equals(there), buf.slice(1).equals(there), there.equals(buf))
buf == b"same"
buf != b"some"
hash(buf)
