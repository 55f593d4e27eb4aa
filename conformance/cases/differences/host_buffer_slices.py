# Parts of page-locked memory are page-locked.
# shows: additions, Page-locked memory
#   HostBuffer.slice: slices are pinned memory too
import pyarrow as pa
from pyarrow import cuda

buf = cuda.new_host_buffer(64)
pinned = pa.DeviceAllocationType.CUDA_HOST
for part in (buf.slice(8, 16), buf[8:24], buf.slice(4).slice(4), buf[2:][1:3]):
    print(type(part).__name__, part.size, part.device_type == pinned, part.is_cpu)
ctx = cuda.Context()
ctx.buffer_from_object(buf.slice(8, 16)).address - buf.address
