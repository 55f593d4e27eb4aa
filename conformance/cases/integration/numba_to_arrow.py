# Memory of an array that Numba has made, as a device buffer.
# needs: gpu, numba kernels
# shows: integration, Numba to Arrow
#   numba.cuda.to_device: a device array that Numba makes
#   CudaBuffer.from_numba: a device buffer over the array's memory
#   CudaBuffer.from_numba: the context comes from Numba's object; none is passed
#   CudaBuffer.size: the size of the array in bytes
#   CudaBuffer.address: the address of the array
#   Context.device_number: the device of the Numba context
#   CudaBuffer.copy_to_host: the copy on the host holds the array's values
import warnings

import numba.cuda
import numpy as np
from pyarrow import cuda

# Numba finds so few blocks worth a warning.
warnings.simplefilter("ignore")


@numba.cuda.jit
def negate(values):
    place = numba.cuda.grid(1)
    if place < values.size:
        values[place] = -values[place]


array = numba.cuda.to_device(np.arange(20, 26, dtype=np.int32))
buf = cuda.CudaBuffer.from_numba(array.gpu_data)
type(buf)
buf.size
buf.address == array.__cuda_array_interface__["data"][0]
buf.context.device_number
buf.is_mutable
np.frombuffer(buf.copy_to_host(), dtype=np.int32)
# Each sees what the other writes.
negate[4, 4](array)
np.frombuffer(buf.copy_to_host(), dtype=np.int32)
buf.copy_from_host(np.array([5], dtype=np.int32), position=4)
array.copy_to_host()
# It is Numba's memory, which does not count as allocated here.
buf.context.bytes_allocated
# A part of the array.
np.frombuffer(cuda.CudaBuffer.from_numba(array[2:4].gpu_data).copy_to_host(), dtype=np.int32)
# The buffer keeps the memory, and so does a slice of it.
part = buf.slice(16)
del array, buf
np.frombuffer(part.copy_to_host(), dtype=np.int32)
