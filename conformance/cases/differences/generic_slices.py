# Generic parts of device memory say that they lie on the device.
import pyarrow as pa
from pyarrow import cuda

ctx = cuda.Context()
buf = ctx.buffer_from_data(b"0123456789")
part = pa.Buffer.slice(buf, 2, 5)
(part.size, part.is_cpu, part.device_type == pa.DeviceAllocationType.CUDA)
(part.device == ctx.device, part.address - buf.address)
same = cuda.CudaBuffer.from_buffer(part)
(same.is_mutable, same.to_pybytes())
part.to_pybytes()
memoryview(part)
