# A kernel compiled by Numba works on the memory of a device buffer, in place.
# needs: gpu, numba kernels
# shows: integration, Numba Integration
#   numba.cuda: device buffers and Numba's arrays share memory, in both directions
# shows: integration, Arrow to Numba
#   numba.cuda.jit: a Numba kernel works on an `int32` array
#   numba.cuda.grid: each thread of the kernel finds its place in the array
#   CudaBuffer.to_numba: the pointer for making a Numba device array
#   numba.cuda.cudadrv.devicearray.DeviceNDArray: a device array over the buffer, with shape,
#     strides and type of the NumPy array
#   CudaBuffer.to_numba: the object refers to the data, without a copy
#   numba.cuda.jit: the kernel is launched on the array with a grid of 16 by 16
#   CudaBuffer.copy_to_host: the buffer shows what the kernel wrote
import warnings

import numba.cuda
import numpy as np
from numba.cuda.cudadrv.devicearray import DeviceNDArray
from pyarrow import cuda

# Numba finds so few blocks worth a warning.
warnings.simplefilter("ignore")


@numba.cuda.jit
def add_ten(values):
    place = numba.cuda.grid(1)
    if place < values.size:
        values[place] += 10


ctx = cuda.Context(0)
host = np.array([7, -3, 0, 250, 99], dtype=np.int32)
buf = ctx.buffer_from_data(host)
array = DeviceNDArray(host.shape, host.strides, host.dtype, gpu_data=buf.to_numba())
add_ten[16, 16](array)
np.frombuffer(buf.copy_to_host(), dtype=np.int32)
# It is the buffer's memory, not a copy.
array.__cuda_array_interface__["data"][0] == buf.address
ctx.bytes_allocated
buf.copy_from_host(np.array([1, 2], dtype=np.int32))
array.copy_to_host()
# A part of the buffer, in two dimensions.
part = buf.slice(4, 16)
square = DeviceNDArray((2, 2), (8, 4), host.dtype, gpu_data=part.to_numba())
square.copy_to_host()
# The pointer keeps the memory: no name here holds the buffers any longer.
del buf, part
add_ten[1, 32](array)
array.copy_to_host()
square.copy_to_host()
ctx.bytes_allocated
# The device gives it back with the last array.
del array, square
ctx.bytes_allocated
