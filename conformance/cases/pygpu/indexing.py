# Indices and slices of PyGPU's GPUArray: what they name, in dense memory of its own.
# shows: pygpu, High-level interface
#   PyGPU.GPUArray.__getitem__: indices and slices
import numpy as np

import pyarrow_cuda_compat.pygpu as gpuarray
from pyarrow_cuda_compat import DeviceArray

host = np.arange(12, dtype=np.int32).reshape(3, 4)
array = gpuarray.to_gpu(host)
# Only the memory on the device counts.
host[:] = 0
row = array[1]
(type(row).__name__, row.shape, row.host_data.get().tolist(), row.get())
array[-1].get()
array[:, 1].get()
array[::2, 1:3].get()
array[..., ::-1][0].get()
# One element is an array without dimensions.
(array[2, 3].shape, array[2, 3].get())
# Lists and masks.
array[[2, 0]].get()
array[array.get() > 8].get()
# A column lies without gaps, for functions that take its address.
column = array[:, 1]
(column.strides, column.flag_c_contiguous)
# It is a copy: neither changes the other.
column.set_val(0, 99)
column.get()
array.get()[0]
# There are no others.
array[3]
array[0, 4]
array[0, 0, 0]
fortran = gpuarray.GPUArray(allocator=gpuarray.Allocator(DeviceArray.empty((2, 2), "f4", "F")))
fortran.set(np.zeros((2, 2), "f4")), fortran.set_val(1, 9), fortran.get()
gpuarray.Allocator(fortran, np.zeros(3))
