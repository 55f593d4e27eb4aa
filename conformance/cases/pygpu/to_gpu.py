# A NumPy array goes to the device and back: PyGPU's own example.
# shows: pygpu, High-level interface
#   PyGPU.to_gpu: copies a NumPy array to the device
#   PyGPU.GPUArray: constructed from an object with a buffer
#   PyGPU.GPUArray.to_gpu: sends the data from the host to the device
#   PyGPU.GPUArray.get: sends the data from the device to the host
#   PyGPU.GPUArray: constructed from a shape, such as 3 by 3 by 3
#   PyGPU.GPUArray(dtype): the type of the items, complex ones too
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
k_gpu.get() is k, k
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
b_gpu.get(), buffer

# PyGPU's GPUArray: made of a shape and a type, with the attributes of NumPy arrays.
complex_dtype = np.complex64
fk_gpu = gpuarray.GPUArray((3, 3, 3), dtype=complex_dtype)
(fk_gpu.shape, fk_gpu.dtype, fk_gpu.size, fk_gpu.nbytes, fk_gpu.strides, fk_gpu.last_status)
host = (np.arange(27) * (1 + 2j)).astype(complex_dtype).reshape(3, 3, 3)
fk_gpu.set(host)
fk = fk_gpu.get()
(fk is host, bool((fk == host).all()), fk[2, 2, 2])
# By the name of the type, of a list, in place; float64 by default.
gpuarray.GPUArray([2, 3], dtype="uint16").dtype, gpuarray.GPUArray(shape=(4,)).dtype
# In Fortran's order.
f_gpu = gpuarray.GPUArray((2, 3), order="F")
(f_gpu.strides, f_gpu.flag_c_contiguous, f_gpu.get().flags.f_contiguous)
# Made of an array, it shares the host's memory, or has a copy.
numbers = np.arange(6.0)
shared, copied = gpuarray.GPUArray(numbers), gpuarray.GPUArray(numbers, copy=True)
[int(each.host_data) == numbers.ctypes.data for each in (shared, copied)]
# The same memory in another shape.
_ = shared.to_gpu()
shared.shape = [2, 3]
(shared.shape, shared.strides, shared.get().tolist())
# One element of the device.
shared.set_val(5, 50), numbers[5], shared.get()[1]
# Memory of an allocator: page-locked on the host, and another array's on the device.
memory = gpuarray.PagelockedAllocator((2,), np.float64)
gpuarray.GPUArray(allocator=memory).get() is memory.get()
same = gpuarray.GPUArray(allocator=gpuarray.Allocator(shared))
(same.ptr == shared.ptr, same.get()[1].tolist())
# Types that it does not have, and invalid shapes.
gpuarray.GPUArray((3,), dtype="bool")
gpuarray.to_gpu(np.array([object()]))
gpuarray.GPUArray((-1,))
shared.shape = (4,)
gpuarray.GPUArray(array=numbers, shape=(4,))
gaps = gpuarray.GPUArray(np.zeros((2, 4))[:, 1:])
gaps.shape = (6,)
