# PyGPU's GPUArray has the same functions for each type of the low-level interface.
# shows: pygpu, High-level interface
#   PyGPU.GPUArray: the interface of NumPy and PyCUDA arrays, for each type of the low-level
#     interface
#   PyGPU.GPUArray.__getitem__: indices and slices
import numpy as np

import pyarrow_cuda_compat.pygpu as gpuarray
from pyarrow_cuda_compat import DeviceArray

gpuarray.SUPPORTED_DTYPES


def there_and_back(name):
    """What comes back of six elements, and of parts of them."""
    host = (np.arange(6) * 3).astype(name).reshape(2, 3)
    sent = host.copy()
    array = gpuarray.to_gpu(host)
    host[:] = 0
    back = array.get()
    kinds = getattr(gpuarray, f"pointer_wrapper_{name}"), getattr(gpuarray, f"DeviceArray_{name}")
    return (
        array.dtype == back.dtype == np.dtype(name),
        bool((back == sent).all()),
        array[1, 1:].get().tolist(),
        isinstance(array.device_data, kinds[0]),
        kinds[1](sent).nbytes() == array.nbytes,
    )


for name in gpuarray.SUPPORTED_DTYPES:
    print(name, *there_and_back(name))
# Numbers that only the type can hold.
gpuarray.to_gpu(np.array([2**64 - 1], np.uint64)).get()
gpuarray.to_gpu(np.array([np.pi - 1e300j])).get()
# By the number of the type, and by C's names for it.
[gpuarray.dtype(place).name for place in range(gpuarray.dtype.__size__.value)]
gpuarray.dtype.unsigned_long_alias.name
gpuarray.to_gpu(np.array([True]))
gpuarray.to_gpu(np.array(["text"]))

# Indices and slices of PyGPU's GPUArray: what they name, in dense memory of its own.
host = np.arange(12, dtype=np.int32).reshape(3, 4)
array = gpuarray.to_gpu(host)
# Only the memory on the device counts.
host[:] = 0
row = array[1]
(type(row).__name__, row.shape, row.host_data.get().tolist(), row.get())
array[-1].get(), array[:, 1].get()
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
column.set_val(0, 99), column.get(), array.get()[0]
# There are no others.
array[3]
array[0, 4]
array[0, 0, 0]
fortran = gpuarray.GPUArray(allocator=gpuarray.Allocator(DeviceArray.empty((2, 2), "f4", "F")))
fortran.set(np.zeros((2, 2), "f4")), fortran.set_val(1, 9), fortran.get()
gpuarray.Allocator(fortran, np.zeros(3))
