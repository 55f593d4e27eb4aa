# PyGPU's low-level arrays of each type: a side on the host, and one on the device.
# shows: pygpu, Low-level interface
#   PyGPU.DeviceArray_int64.device_data: unallocated at first
#   PyGPU.DeviceArray_int64: the type of the buffer is not checked; it has to match the name's
#   PyGPU.DeviceArray_int64: nothing is allocated on the device unasked
#   PyGPU.DeviceArray_int16: an array of `int16` on the host and the device
#   PyGPU.DeviceArray_int32: an array of `int32` on the host and the device
#   PyGPU.DeviceArray_int64: an array of `int64` on the host and the device
#   PyGPU.DeviceArray_uint16: an array of `uint16` on the host and the device
#   PyGPU.DeviceArray_uint32: an array of `uint32` on the host and the device
#   PyGPU.DeviceArray_uint64: an array of `uint64` on the host and the device
#   PyGPU.DeviceArray_float32: an array of `float32` on the host and the device
#   PyGPU.DeviceArray_float64: an array of `float64` on the host and the device
#   PyGPU.DeviceArray_int64: constructed from a buffer, which stays its side on the host
#   PyGPU.DeviceArray_int64.host_data: the pointer to the side on the host
#   PyGPU.DeviceArray_int64.device_data: the pointer to the side on the device
#   PyGPU.DeviceArray_int64.allocate: allocates the memory on the device
#   PyGPU.DeviceArray_int64.to_device: copies the data to the device
#   PyGPU.DeviceArray_int64.to_host: copies the data back into its original memory
#   PyGPU.DeviceArray_int64: a whole round trip, with a function called on the device's side in
#     between
import ctypes
import re

import numpy as np
from pyarrow import cuda

import pyarrow_cuda_compat.pygpu as gpuarray

# PyGPU's low-level arrays allocate nothing on the device unasked, and hold only their own type.
ctx = cuda.Context(0)
host = np.array([1, 2, 3], dtype=np.int64)
da = gpuarray.DeviceArray_int64(host)
ctx.bytes_allocated, da.allocated()
# The pointer to the device points to nothing.
da.device_data()
# So there is nothing to copy to or from, and nothing is allocated on the way.
da.to_device()
da.to_host()
da.set(host)
da.set_val(0, 1)
da.last_status(), ctx.bytes_allocated, host, da.allocate()
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

# There is a class for each type of elements.
KINDS = "int16 int32 int64 uint16 uint32 uint64 float32 float64 complex64 complex128"
for name in KINDS.split():
    host = np.array([[1, 2, 3], [4, 5, 6]], dtype=name)
    array = getattr(gpuarray, f"DeviceArray_{name}")(host)
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
int(pointed.host_data()) == int(memory.ptr()), pointed.allocate(), pointed.to_device()
address = int(pointed.device_data())
both = gpuarray.DeviceArray_float32(int(memory.ptr()), address, [6])
(both.allocated(), int(both.device_data()) == address, both.to_host())
both.set(0)
owned = gpuarray.DeviceAllocator_float32()
before = cuda.Context().bytes_allocated
(owned.allocate(6), cuda.Context().bytes_allocated - before)
gpuarray.DeviceArray_float64(memory.ptr(), [6])

# A whole round trip of PyGPU's low-level arrays, with a function called on the device's side.
A = np.array([1, 2, 3, 4, 5, 6])
da = gpuarray.DeviceArray_int64(A)
# The side on the host is the array's own memory.
da.host_data().get() is A, int(da.host_data()) == A.ctypes.data, da.last_status(), da.allocate()
da.allocated(), da.last_status(), da.to_device()
# A C function, which gets the pointer to the side on the device.
path = re.search(r"/\S*libcuda(_sim)?\.so\S*", open("/proc/self/maps").read())[0]
fn = ctypes.CDLL(path).cuMemsetD32_v2
fn.argtypes = [ctypes.c_void_p, ctypes.c_uint, ctypes.c_size_t]
fn(da.device_data(), 0, 4)
# The host has not changed, until the data comes back into its memory.
A
da.to_host(), A, da.last_status()
# Other data, from elsewhere; one element.
da.set(np.array([7, 7, 7, 7, 7, 7])), da.set_val(5, -1), A
da.to_host(), A, da.size(), da.nbytes(), da.shape(), da.strides()
# NumPy takes it for the side on the host.
np.array(da, copy=False).ctypes.data == A.ctypes.data
