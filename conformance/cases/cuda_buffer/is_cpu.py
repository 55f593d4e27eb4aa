# The CPU cannot read device memory: `is_cpu` is false for each kind of buffer.
# shows: cuda_buffer, class
#   CudaBuffer: its data lies on a GPU
# shows: cuda_buffer, is_cpu
#   CudaBuffer.is_cpu: whether the CPU can access the buffer
# shows: cuda_buffer, inherited
#   CudaBuffer.device_type: the kind of memory that the buffer lies in
import pyarrow as pa
from pyarrow import cuda

ctx = cuda.Context(0)
buf = ctx.buffer_from_data(b"0123456789")
buf.is_cpu
buf.device_type
[part.is_cpu for part in (buf.slice(2), buf[1:4], buf.slice(0, 0), ctx.new_buffer(0))]
generic = pa.Buffer.slice(buf, 2)
(generic.is_cpu, generic.device_type, generic.device == ctx.device)
generic.to_pybytes()
(buf.slice(2).parent.is_cpu, buf.slice(2).parent.device_type)
cuda.CudaBuffer.from_buffer(pa.Buffer.slice(buf, 2)).is_cpu
pa.Array.from_buffers(pa.uint8(), 10, [None, buf]).buffers()[1].is_cpu
buf.copy_to_host().is_cpu
(cuda.new_host_buffer(4).is_cpu, cuda.new_host_buffer(4).device_type)
(buf.device.is_cpu, buf.memory_manager.is_cpu)
buf.is_cpu = True
