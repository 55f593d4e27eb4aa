# Offsets and positions beyond 4 GiB.
# needs: 5 GiB
# shows: cuda_buffer, class
#   CudaBuffer: buffers of more than 4 GiB
from pyarrow import cuda

ctx = cuda.Context(0)
GIB = 1 << 30
buf = ctx.new_buffer(4 * GIB + 100)
buf.size - 4 * GIB, len(buf) - 4 * GIB, buf.slice(0, 100).copy_from_host(b"-" * 100)
buf.copy_from_host(b"0123456789", position=4 * GIB + 5)
buf.copy_to_host(position=4 * GIB + 6, nbytes=3).to_pybytes()
part = buf.slice(4 * GIB + 5)
part.size, part.address - buf.address - 4 * GIB, part.slice(0, 10).to_pybytes()
buf[4 * GIB + 7 : 4 * GIB + 9].to_pybytes(), buf[4 * GIB + 14], buf[-86]
buf.copy_from_device(part.slice(2, 4), position=2 * GIB + 1)
buf.slice(2 * GIB + 1, 4).to_pybytes(), buf.copy_to_host(position=4 * GIB + 98).size
buf.copy_to_host(position=4 * GIB + 101)
buf.slice(4 * GIB + 100)
# The low bytes were left alone.
buf.slice(0, 100).to_pybytes() == b"-" * 100
