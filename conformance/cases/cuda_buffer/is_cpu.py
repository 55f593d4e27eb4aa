# The CPU cannot read device memory: `is_cpu` is false for each kind of buffer.
# shows: cuda_buffer, class
#   CudaBuffer: its data lies on a GPU
# shows: cuda_buffer, is_cpu
#   CudaBuffer.is_cpu: whether the CPU can access the buffer
# shows: cuda_buffer, inherited
#   CudaBuffer.device_type: the kind of memory that the buffer lies in
# shows: integration, CUDA Integration
#   CudaBuffer: Arrow's buffers may lie in a GPU's memory as well as in the host's
#   CudaBuffer.is_cpu: a buffer says where it lies
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
# Arrow's arrays have such buffers on the host and on the device.
array = pa.array([1, None, 3], pa.int32())
[each.is_cpu for each in (*array.buffers(), *array.copy_to(ctx.memory_manager).buffers())]
buf.copy_to_host().is_cpu
(cuda.new_host_buffer(4).is_cpu, cuda.new_host_buffer(4).device_type)
(buf.device.is_cpu, buf.memory_manager.is_cpu)
buf.is_cpu = True
