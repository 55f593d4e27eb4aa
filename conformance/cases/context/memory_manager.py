# A context's memory manager: where Arrow itself allocates on the device.
import pyarrow as pa
from pyarrow import cuda

ctx = cuda.Context()
manager = ctx.memory_manager
manager
type(manager)
manager.is_cpu
manager.device == ctx.device
ctx.new_buffer(10).memory_manager.device == ctx.device
# What Arrow copies there lies on the device, and is counted.
before = ctx.bytes_allocated
there = pa.array([1, 2, 3]).copy_to(manager)
there.device_type == pa.DeviceAllocationType.CUDA
ctx.bytes_allocated - before
there.copy_to(pa.default_cpu_memory_manager()).to_pylist()
del there
ctx.bytes_allocated - before
