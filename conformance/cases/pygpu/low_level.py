# PyGPU's low-level arrays of each type: a side on the host, and one on the device.
# shows: pygpu, Low-level interface
#   PyGPU.DeviceArray_int16: an array of `int16` on the host and the device
#   PyGPU.DeviceArray_int32: an array of `int32` on the host and the device
#   PyGPU.DeviceArray_int64: an array of `int64` on the host and the device
#   PyGPU.DeviceArray_uint16: an array of `uint16` on the host and the device
#   PyGPU.DeviceArray_uint32: an array of `uint32` on the host and the device
#   PyGPU.DeviceArray_uint64: an array of `uint64` on the host and the device
#   PyGPU.DeviceArray_float32: an array of `float32` on the host and the device
#   PyGPU.DeviceArray_float64: an array of `float64` on the host and the device
import numpy as np
from pyarrow import cuda

import pyarrow_cuda_compat.pygpu as gpuarray

kinds = [
    gpuarray.DeviceArray_int16,
    gpuarray.DeviceArray_int32,
    gpuarray.DeviceArray_int64,
    gpuarray.DeviceArray_uint16,
    gpuarray.DeviceArray_uint32,
    gpuarray.DeviceArray_uint64,
    gpuarray.DeviceArray_float32,
    gpuarray.DeviceArray_float64,
    gpuarray.DeviceArray_complex64,
    gpuarray.DeviceArray_complex128,
]
for kind in kinds:
    name = kind.__name__.removeprefix("DeviceArray_")
    host = np.array([[1, 2, 3], [4, 5, 6]], dtype=name)
    array = kind(host)
    statuses = array.allocate(), array.to_device()
    host[:] = 0
    statuses += array.set_val(0, 9), array.to_host()
    print(name, array.nbytes(), {int(status) for status in statuses}, host.tolist())

# Of a size, of a list of lengths, of a pointer, of two addresses.
gpuarray.DeviceArray_float32(6).shape()
shaped = gpuarray.DeviceArray_float32([2, 3], flag_c_contiguous=0)
(shaped.shape(), shaped.strides())
memory = gpuarray.HostAllocator_float32()
memory.allocate(6)
pointed = gpuarray.DeviceArray_float32(memory.ptr(), [2, 3])
int(pointed.host_data()) == int(memory.ptr())
(pointed.allocate(), pointed.to_device())
address = int(pointed.device_data())
both = gpuarray.DeviceArray_float32(int(memory.ptr()), address, [6])
(both.allocated(), int(both.device_data()) == address, both.to_host())
both.set(0)
owned = gpuarray.DeviceAllocator_float32()
before = cuda.Context().bytes_allocated
(owned.allocate(6), cuda.Context().bytes_allocated - before)
gpuarray.DeviceArray_float64(memory.ptr(), [6])
