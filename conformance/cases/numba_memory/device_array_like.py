# Uninitialised Numba arrays with the shape and type of another array.
# environment: NUMBA_CUDA_MEMORY_MANAGER=pyarrow_cuda_compat.numba
# needs: numba.cuda
# shows: numba_memory, Data transfer
#   numba.cuda.device_array_like: an uninitialised array on the device of another array's shape and
#     type
#   numba.cuda.device_array_like(ary): the array to be like
#   numba.cuda.device_array_like(stream): the stream to allocate on
import numba.cuda
import numpy as np
from pyarrow import cuda

ctx = cuda.Context(0)
array = numba.cuda.device_array_like(ary=np.zeros((2, 3), np.int16))
type(array).__name__, array.shape, array.strides, array.dtype.name
ctx.bytes_allocated
# In the order of the other one, which may lie on the device.
columns = numba.cuda.device_array_like(np.zeros((2, 3), np.int16, order="F"))
columns.strides
numba.cuda.device_array_like(columns).strides
stream = numba.cuda.stream()
numba.cuda.device_array_like(columns, stream=stream).stream is stream
del array, columns
ctx.bytes_allocated
