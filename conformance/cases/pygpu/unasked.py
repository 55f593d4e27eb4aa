# PyGPU's low-level arrays allocate nothing on the device unasked, and hold only their own type.
# shows: pygpu, Low-level interface
#   PyGPU.DeviceArray_int64.device_data: unallocated at first
#   PyGPU.DeviceArray_int64: the type of the buffer is not checked; it has to match the name's
#   PyGPU.DeviceArray_int64: nothing is allocated on the device unasked
import numpy as np
from pyarrow import cuda

import pyarrow_cuda_compat.pygpu as gpuarray

ctx = cuda.Context(0)
host = np.array([1, 2, 3], dtype=np.int64)
da = gpuarray.DeviceArray_int64(host)
ctx.bytes_allocated
da.allocated()
# The pointer to the device points to nothing.
da.device_data()
# So there is nothing to copy to or from, and nothing is allocated on the way.
da.to_device()
da.to_host()
da.set(host)
da.set_val(0, 1)
da.last_status()
(ctx.bytes_allocated, host)
da.allocate()
(da.allocated(), int(da.device_data()) > 0, ctx.bytes_allocated)
# Once is enough.
address = int(da.device_data())
(da.allocate(), int(da.device_data()) == address, ctx.bytes_allocated)
# The type of the buffer has to match the name's: PyGPU does not check it, and this does.
gpuarray.DeviceArray_int64(np.zeros(3))
gpuarray.DeviceArray_int32(host)
gpuarray.DeviceArray_float32(host.view(np.float64))
gpuarray.DeviceArray_int64(host.astype(">i8"))
da.set(np.zeros(3))
da.set(np.zeros(4, dtype=np.int64))
da.set_val(3, 1)
(da.to_device(), da.to_host(), host)
