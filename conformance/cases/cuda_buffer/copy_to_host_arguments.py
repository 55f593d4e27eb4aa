# Arguments that a copy to the host refuses.
# shows: cuda_buffer, copy_to_host
#   CudaBuffer.copy_to_host(position): positions outside the buffer are refused
#   CudaBuffer.copy_to_host(nbytes): more bytes than the source has, or than fit, are refused
#   CudaBuffer.copy_to_host(buf): objects that are not mutable host buffers are refused
import pyarrow as pa
from pyarrow import cuda

ctx = cuda.Context(0)
buf = ctx.buffer_from_data(b"0123456789")
buf.copy_to_host(position=-1)
buf.copy_to_host(position=11)
buf.copy_to_host(position=2**62)
buf.copy_to_host(nbytes=11)
buf.copy_to_host(position=8, nbytes=3)
buf.copy_to_host(position=10, nbytes=1)
buf.copy_to_host(nbytes=2**62)
buf.copy_to_host(nbytes=2**62, buf=cuda.new_host_buffer(11))
buf.slice(2, 3).copy_to_host(nbytes=4)
buf.copy_to_host(position="3")
buf.copy_to_host(nbytes=2.5)
buf.copy_to_host(position=None)

# Objects that are not buffers, are read-only, or lie on the device.
buf.copy_to_host(buf=bytearray(10))
buf.copy_to_host(buf=pa.py_buffer(b"0000000000"))
buf.copy_to_host(buf=ctx.new_buffer(10))
buf.copy_to_host(memory_pool="default")

# Any negative number of bytes stands for all.
buf.copy_to_host(position=7, nbytes=-5).to_pybytes()
