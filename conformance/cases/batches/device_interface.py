# The C Device interface: arrays on a device pass from library to library.
# shows: pyarrow_devices, Arrays
#   pyarrow.Array.__arrow_c_device_array__: arrays on a device are exported and imported through the
#     C Device interface
import pyarrow as pa
from pyarrow import cuda

ctx = cuda.Context()
host = pa.default_cpu_memory_manager()
there = pa.array([1, None, 3]).copy_to(ctx.memory_manager)


class Wrapper:
    def __init__(self, inner):
        self.__arrow_c_device_array__ = inner.__arrow_c_device_array__


back = pa.array(Wrapper(there))
(back.is_cpu, back.device_type == pa.DeviceAllocationType.CUDA)
[a.address == b.address for a, b in zip(back.buffers(), there.buffers(), strict=True)]
cuda.CudaBuffer.from_buffer(back.buffers()[1]).size
del there
back.copy_to(host).to_pylist()
batch = pa.record_batch({"x": [1, None], "s": ["one", "two"]})
back = pa.record_batch(Wrapper(batch.copy_to(ctx.memory_manager)))
(back.is_cpu, back.copy_to(host).equals(batch))
