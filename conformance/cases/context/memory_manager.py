# A context's memory manager: where Arrow itself allocates on the device.
# shows: pyarrow_cuda
#   Context.memory_manager: the memory manager of the context's device, where Arrow allocates
# shows: pyarrow_devices, Devices
#   pyarrow.MemoryManager.device: the device that it allocates on
#   pyarrow.MemoryManager.is_cpu: False
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
