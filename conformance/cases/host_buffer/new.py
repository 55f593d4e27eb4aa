# Page-locked host memory: of the size that was asked for, and the CPU's as well.
# shows: pyarrow_cuda
#   HostBuffer: pinned host memory, which is a pyarrow.Buffer
#   HostBuffer: the constructor is refused, and names the function to use
#   HostBuffer.size: the size in bytes
#   HostBuffer.is_cpu: True: the CPU reads and writes it
#   HostBuffer.is_mutable: True
#   new_host_buffer: a mutable HostBuffer of new pinned memory
#   new_host_buffer(size): the size in bytes
#   new_host_buffer(device): the device whose context allocates; 0 by default
import pyarrow as pa
from pyarrow import cuda

buf = cuda.new_host_buffer(1000)
type(buf)
buf
isinstance(buf, pa.Buffer)
(buf.size, len(buf), buf.is_cpu, buf.is_mutable, buf.parent)
buf.address
buf.address % 64
cuda.new_host_buffer(size=10, device=0).size
cuda.new_host_buffer(10, 0).device_type == buf.device_type
# It costs no device memory.
ctx = cuda.Context()
before = ctx.bytes_allocated
more = cuda.new_host_buffer(1 << 20)
ctx.bytes_allocated - before
# The constructor is refused.
cuda.HostBuffer()
issubclass(cuda.HostBuffer, cuda.CudaBuffer)
