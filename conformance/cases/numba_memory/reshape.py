# The same items in another shape: views of the same memory.
# environment: NUMBA_CUDA_MEMORY_MANAGER=pyarrow_cuda_compat.numba
# needs: numba.cuda
# shows: numba_memory, Device arrays
#   numba.cuda.cudadrv.devicearray.DeviceNDArray.ravel: the same items in one dimension
#   numba.cuda.cudadrv.devicearray.DeviceNDArray.ravel(order): the order to read them in
#   numba.cuda.cudadrv.devicearray.DeviceNDArray.ravel(stream): the stream to work on
#   numba.cuda.cudadrv.devicearray.DeviceNDArray.reshape: the same items in another shape
#   numba.cuda.cudadrv.devicearray.DeviceNDArray.reshape: newshape, as one tuple or as several
#     numbers: the new shape
#   numba.cuda.cudadrv.devicearray.DeviceNDArray.reshape(order): the order of the items
import numba.cuda
import numpy as np
from pyarrow import cuda

ctx = cuda.Context(0)
array = numba.cuda.to_device(np.arange(6, dtype=np.int32))
ctx.bytes_allocated
array.reshape(2, 3).copy_to_host()
array.reshape((3, 2)).copy_to_host()
array.reshape(2, 3, order="F").copy_to_host()
matrix = array.reshape(2, 3)
matrix.ravel().copy_to_host()
array.reshape(2, 3, order="F").ravel(order="F").copy_to_host()
stream = numba.cuda.stream()
matrix.ravel(stream=stream).stream is stream
# Nothing was copied, and nothing can be.
ctx.bytes_allocated
flat = matrix.ravel()
cuda.CudaBuffer.from_numba(flat.gpu_data).address == cuda.CudaBuffer.from_numba(
    array.gpu_data
).address
try:
    matrix[:, 1:].ravel()
except NotImplementedError:
    print("that would need a copy")

# A view keeps the memory.
del array, matrix
(ctx.bytes_allocated, flat.copy_to_host())
del flat
ctx.bytes_allocated
