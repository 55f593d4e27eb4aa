# A buffer of no bytes: no memory, and every operation succeeds on nothing.
# shows: cuda_buffer, class
#   CudaBuffer: empty buffers
import pyarrow as pa
from pyarrow import cuda

ctx = cuda.Context(0)
empty = ctx.new_buffer(0)
empty
(empty.address, empty.size, len(empty), bool(empty), ctx.bytes_allocated)
(empty.to_pybytes(), empty.hex(), list(empty), empty.copy_to_host().size)
ctx.buffer_from_data(b"").address
ctx.foreign_buffer(0, 0).size
empty.copy_from_host(b"")
empty.copy_from_host(b"abc")
empty.copy_from_device(ctx.buffer_from_data(b"abc"))
empty.copy_from_device(empty, position=0, nbytes=0)
empty.copy_to_host(position=0, nbytes=0).to_pybytes()
empty.copy_to_host(position=1)
empty.copy_from_host(b"abc", nbytes=1)
(empty.slice(), empty[:])
empty.slice(1)
empty[0]
empty.equals(ctx.new_buffer(0)), empty.equals(pa.py_buffer(b"")), empty.equals(ctx.new_buffer(1))

# And a slice of no bytes.
buf = ctx.buffer_from_data(b"abc")
nothing = buf.slice(1, 0)
(nothing.size, nothing.to_pybytes(), nothing.address - buf.address, nothing.equals(empty))
