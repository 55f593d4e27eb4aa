# NumPy writes and reads page-locked memory in place.
# shows: pyarrow_cuda
#   HostBuffer: NumPy and Arrow read and write the memory in place
#   HostBuffer.address: the host's address of the memory, as an int
import numpy as np
import pyarrow as pa
from pyarrow import cuda

buf = cuda.new_host_buffer(16)
values = np.frombuffer(buf, dtype=np.int32)
(values.size, values.flags.writeable)
values[:] = [1, 2, 3, 4]
buf.to_pybytes()
values.ctypes.data == buf.address
memoryview(buf)[4] = 9
values.tolist()
# Arrow's arrays lie in it, too.
array = pa.Array.from_buffers(pa.int32(), 4, [None, buf])
array.copy_to(pa.default_cpu_memory_manager()).to_pylist()
# The view keeps the memory.
del buf, array
values.tolist()
