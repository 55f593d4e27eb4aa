# Page-locked memory equals other host memory by its bytes.
# shows: pyarrow_cuda, HostBuffer.equals
#   HostBuffer.equals: whether both hold the same bytes
#   HostBuffer.equals(other): another buffer
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
buf == b"same"
buf != b"some"
hash(buf)
