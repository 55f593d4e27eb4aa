# Uninitialised Numba arrays, in memory of this package's contexts.
# environment: NUMBA_CUDA_MEMORY_MANAGER=pyarrow_cuda_compat.numba
# needs: numba.cuda
# shows: additions, Numba's memory manager
#   NUMBA_CUDA_MEMORY_MANAGER: pyarrow_cuda_compat.numba has Numba allocate in this package's
#     contexts
# shows: numba_memory, Data transfer
#   numba.cuda.device_array: an uninitialised array on the device
#   numba.cuda.device_array(shape): its shape
#   numba.cuda.device_array(dtype): the type of its items, 64-bit floats by default
#   numba.cuda.device_array(strides): its strides
#   numba.cuda.device_array(order): row-major or column-major order
#   numba.cuda.device_array(stream): the stream to allocate on
#   numba.cuda.device_array_like: an uninitialised array on the device of another array's shape and
#     type
#   numba.cuda.device_array_like(ary): the array to be like
#   numba.cuda.device_array_like(stream): the stream to allocate on
import numba.cuda
import numpy as np
from pyarrow import cuda

ctx = cuda.Context(0)
array = numba.cuda.device_array(shape=(4, 3), dtype=np.int32)
type(array).__name__, array.shape, array.strides, array.dtype.name, array.nbytes
ctx.bytes_allocated, cuda.CudaBuffer.from_numba(array.gpu_data).size
# Without a type they are 64-bit floats; without an order, row-major.
plain = numba.cuda.device_array((2, 3))
plain.dtype.name, plain.strides, numba.cuda.device_array((2, 3), order="C").strides
numba.cuda.device_array((2, 3), order="F").strides
# Other strides reach over more memory than the items fill.
before = ctx.bytes_allocated
spread = numba.cuda.device_array((2, 3), dtype=np.int8, strides=(8, 1))
spread.strides, ctx.bytes_allocated - before
stream = numba.cuda.stream()
numba.cuda.device_array(10, stream=stream).stream is stream
# The memory goes with the arrays.
del array, plain, spread
ctx.bytes_allocated

# Uninitialised Numba arrays with the shape and type of another array.
array = numba.cuda.device_array_like(ary=np.zeros((2, 3), np.int16))
type(array).__name__, array.shape, array.strides, array.dtype.name, ctx.bytes_allocated
# In the order of the other one, which may lie on the device.
columns = numba.cuda.device_array_like(np.zeros((2, 3), np.int16, order="F"))
columns.strides, numba.cuda.device_array_like(columns).strides
stream = numba.cuda.stream()
numba.cuda.device_array_like(columns, stream=stream).stream is stream
del array, columns
ctx.bytes_allocated
