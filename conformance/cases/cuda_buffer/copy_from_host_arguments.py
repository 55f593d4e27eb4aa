# Arguments that a copy from the host refuses; then it writes nothing.
# shows: cuda_buffer, copy_from_host
#   CudaBuffer.copy_from_host(position): positions outside the buffer are refused
#   CudaBuffer.copy_from_host(nbytes): more bytes than the source has, or than fit, are refused
import pyarrow as pa
from pyarrow import cuda

ctx = cuda.Context(0)
whole = ctx.buffer_from_data(b"0123456789abcdef")
buf = whole.slice(3, 10)
buf.copy_from_host(b"xyz", position=-1)
buf.copy_from_host(b"xyz", position=11)
buf.copy_from_host(b"", position=11)
buf.copy_from_host(b"xyz", position=2**62)
buf.copy_from_host(b"xyz", nbytes=4)
buf.copy_from_host(b"xyz", position=8, nbytes=3)
buf.copy_from_host(b"x" * 20, nbytes=11)
buf.copy_from_host(b"xyz", position=10, nbytes=1)
buf.copy_from_host(b"xyz", position="0")
buf.copy_from_host(b"xyz", nbytes=None)
cuda.CudaBuffer.from_buffer(pa.Buffer.slice(whole, 0)).copy_from_host(b"xyz")
whole.to_pybytes()

# Any negative number of bytes stands for as many as fit.
buf.copy_from_host(b"xyz", position=8, nbytes=-9)
whole.to_pybytes()
