# Page-locked memory is the CPU's memory, of a kind of its own.
# shows: pyarrow_cuda
#   HostBuffer.device: the CPU
#   HostBuffer.device_type: CUDA_HOST, a kind of its own
#   HostBuffer.memory_manager: the CPU's memory manager
import pyarrow as pa
from pyarrow import cuda

buf = cuda.new_host_buffer(16)
buf.device_type == pa.DeviceAllocationType.CUDA_HOST
buf.device_type == pa.py_buffer(b"pageable").device_type
buf.device
buf.device == pa.default_cpu_memory_manager().device
buf.memory_manager
buf.memory_manager.is_cpu
array = pa.Array.from_buffers(pa.int64(), 2, [None, buf])
(array.is_cpu, array.device_type == pa.DeviceAllocationType.CUDA_HOST)
