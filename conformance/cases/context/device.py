# A context's device, as Arrow describes devices.
import pyarrow as pa
from pyarrow import cuda

ctx = cuda.Context()
ctx.device
type(ctx.device)
ctx.device.type_name
(ctx.device.device_id, ctx.device.is_cpu)
ctx.device.device_type == pa.DeviceAllocationType.CUDA
ctx.device == cuda.Context(0).device
ctx.device == ctx.new_buffer(10).device
ctx.device == pa.default_cpu_memory_manager().device
