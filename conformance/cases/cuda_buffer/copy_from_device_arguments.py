# Arguments that a copy on the device refuses; then it writes nothing.
# shows: cuda_buffer, copy_from_device
#   CudaBuffer.copy_from_device(buf): objects that are not device buffers are refused
#   CudaBuffer.copy_from_device(position): positions outside the buffer are refused
#   CudaBuffer.copy_from_device(nbytes): more bytes than the source has, or than fit, are refused
import pyarrow as pa
from pyarrow import cuda

ctx = cuda.Context(0)
whole = ctx.buffer_from_data(b"0123456789abcdef")
buf = whole.slice(3, 10)
source = ctx.buffer_from_data(b"xyz")
buf.copy_from_device(source, position=-1)
buf.copy_from_device(source, position=11)
buf.copy_from_device(source, position=2**62)
buf.copy_from_device(source, nbytes=4)
buf.copy_from_device(source, position=8, nbytes=3)
buf.copy_from_device(ctx.new_buffer(20), nbytes=11)
buf.copy_from_device(source, position=10, nbytes=1)
buf.copy_from_device(source, position="0")
buf.copy_from_device(source, nbytes=2.0)
buf.copy_from_device(buf=None)
buf.copy_from_device(b"xyz")
buf.copy_from_device(pa.py_buffer(b"xyz"))
buf.copy_from_device(cuda.new_host_buffer(3))
cuda.CudaBuffer.from_buffer(pa.Buffer.slice(whole, 0)).copy_from_device(source)
whole.to_pybytes()

# Any negative number of bytes stands for as many as fit.
buf.copy_from_device(source, position=8, nbytes=-9)
whole.to_pybytes()
