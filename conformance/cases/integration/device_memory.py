# Arrow's data lies on the device as it lies on the host, in buffers that say where.
# shows: integration, CUDA Integration
#   CudaBuffer: Arrow's buffers may lie in a GPU's memory as well as in the host's
#   CudaBuffer.is_cpu: a buffer says where it lies
import pyarrow as pa
from pyarrow import cuda

ctx = cuda.Context(0)
on_host = pa.array([1, None, 3], pa.int32())
[buf.is_cpu for buf in on_host.buffers()]
on_device = on_host.copy_to(ctx.memory_manager)
[buf.is_cpu for buf in on_device.buffers()]
[buf.device_type for buf in on_device.buffers()]
[buf.device == ctx.device for buf in on_device.buffers()]
on_device.device_type
cuda.CudaBuffer.from_buffer(on_device.buffers()[1]).slice(8, 4).to_pybytes()
on_device.copy_to(pa.default_cpu_memory_manager()).equals(on_host)

# And an array is made of device buffers, which say where they lie, too.
values = ctx.buffer_from_data(b"\x0a\x00\x14\x00\x1e\x00")
type(values), values.is_cpu, values.device_type, values.device == ctx.device
values.slice(2).is_cpu, ctx.new_buffer(0).is_cpu, cuda.new_host_buffer(6).is_cpu
made = pa.Array.from_buffers(pa.int16(), 3, [None, values])
made.buffers()[1].address == values.address
made.slice(1).copy_to(pa.default_cpu_memory_manager()).to_pylist()
