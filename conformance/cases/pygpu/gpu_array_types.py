# PyGPU's GPUArray has the same functions for each type of the low-level interface.
# shows: pygpu, High-level interface
#   PyGPU.GPUArray: the interface of NumPy and PyCUDA arrays, for each type of the low-level
#     interface
import numpy as np

import pyarrow_cuda_compat.pygpu as gpuarray

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
