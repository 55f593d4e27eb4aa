# Arrays are made of device buffers.
# shows: pyarrow_devices, Arrays
#   pyarrow.Array.from_buffers: arrays are made of device buffers
import numpy as np
import pyarrow as pa
from pyarrow import cuda

ctx = cuda.Context()
host = pa.default_cpu_memory_manager()
values = ctx.buffer_from_data(np.arange(4, dtype=np.int32))
valid = ctx.buffer_from_data(b"\x0d")
array = pa.Array.from_buffers(pa.int32(), 4, [valid, values])
(array.is_cpu, array.device_type == pa.DeviceAllocationType.CUDA)
array.copy_to(host).to_pylist()
array.slice(2).copy_to(host).to_pylist()
array.buffers()[1].address == values.address
# The array keeps the memory.
del values, valid
array.copy_to(host).to_pylist()
