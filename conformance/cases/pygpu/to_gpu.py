# A NumPy array goes to the device and back: PyGPU's own example.
# shows: pygpu, High-level interface
#   PyGPU.to_gpu: copies a NumPy array to the device
#   PyGPU.GPUArray: constructed from an object with a buffer
#   PyGPU.GPUArray.to_gpu: sends the data from the host to the device
#   PyGPU.GPUArray.get: sends the data from the device to the host
import array
import ctypes
import re

import numpy as np

import pyarrow_cuda_compat.pygpu as gpuarray

k = np.array([1, 2, 3, 4, 5, 6])
k_gpu = gpuarray.to_gpu(k)
(type(k_gpu).__name__, k_gpu.dtype, k_gpu.shape, k_gpu.size, k_gpu.nbytes, k_gpu.strides)
k_gpu.last_status
# The bytes on the device, read through the driver.
path = re.search(r"/\S*libcuda(_sim)?\.so\S*", open("/proc/self/maps").read())[0]
driver, seen = ctypes.CDLL(path), np.zeros(6, dtype=k.dtype)
driver.cuMemcpyDtoH_v2(seen.ctypes.data_as(ctypes.c_void_p), ctypes.c_void_p(k_gpu.ptr), 48)
seen
# Without another copy, changes on the host do not reach it.
k[:] = 0
k_gpu.get()
# `get` fills the array that it was made of, and returns that array.
k_gpu.get() is k
k
# A copy of it, if asked for.
k_gpu.get(copy=True) is k
# `to_gpu` sends what the host has now.
k *= 10
k_gpu.to_gpu()
k[:] = 0
k_gpu.get()
# Any object with a buffer, which is filled as well.
buffer = array.array("f", [0.5, 1.5])
b_gpu = gpuarray.GPUArray(buffer)
b_gpu.to_gpu()
buffer[0] = 0
b_gpu.get()
buffer
