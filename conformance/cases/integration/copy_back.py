# Back on the host, the copy is a regular buffer, which NumPy reads in place.
# shows: integration, CUDA Buffers
#   CudaBuffer.copy_to_host: copies the device's data back to the host
#   CudaBuffer.copy_to_host: the result is an ordinary pyarrow buffer
#   numpy.frombuffer: NumPy reads the copy, and finds what was sent
import numpy as np
import pyarrow as pa
from pyarrow import cuda

ctx = cuda.Context(0)
arr = np.array([4, 3, 2, 1], dtype=np.int32)
cuda_buf = ctx.buffer_from_data(arr)
buf = cuda_buf.copy_to_host()
type(buf)
(buf.size, buf.is_cpu, buf.is_mutable)
np.frombuffer(buf, dtype=np.int32)
memoryview(buf).nbytes
np.frombuffer(buf, dtype=np.int32).ctypes.data == buf.address

# Other types, and Arrow's arrays over what came back.
floats = ctx.buffer_from_data(np.array([0.5, -2.25, 1e300]))
np.frombuffer(floats.copy_to_host(), dtype=np.float64)
pa.Array.from_buffers(pa.int32(), 4, [None, buf]).to_pylist()

# It is a copy, too.
np.frombuffer(buf, dtype=np.int32)[0] = 99
np.frombuffer(cuda_buf.copy_to_host(), dtype=np.int32)
cuda_buf.copy_from_host(b"\x00" * 16)
np.frombuffer(buf, dtype=np.int32)

# It stays when the device's memory goes.
del cuda_buf
(ctx.bytes_allocated, np.frombuffer(buf, dtype=np.int32).tolist())
