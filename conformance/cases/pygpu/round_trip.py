# A whole round trip of PyGPU's low-level arrays, with a function called on the device's side.
# shows: pygpu, Low-level interface
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

import numpy

import pyarrow_cuda_compat.pygpu as gpuarray

A = numpy.array([1, 2, 3, 4, 5, 6])
da = gpuarray.DeviceArray_int64(A)
# The side on the host is the array's own memory.
da.host_data().get() is A
int(da.host_data()) == A.ctypes.data
da.last_status()
da.allocate()
(da.allocated(), da.last_status())
da.to_device()
# A C function, which gets the pointer to the side on the device.
path = re.search(r"/\S*libcuda(_sim)?\.so\S*", open("/proc/self/maps").read())[0]
fn = ctypes.CDLL(path).cuMemsetD32_v2
fn.argtypes = [ctypes.c_void_p, ctypes.c_uint, ctypes.c_size_t]
fn(da.device_data(), 0, 4)
# The host has not changed, until the data comes back into its memory.
A
da.to_host()
A
da.last_status()
# Other data, from elsewhere; one element.
da.set(numpy.array([7, 7, 7, 7, 7, 7]))
da.set_val(5, -1)
A
(da.to_host(), A)
(da.size(), da.nbytes(), da.shape(), da.strides())
# NumPy takes it for the side on the host.
numpy.array(da, copy=False).ctypes.data == A.ctypes.data
