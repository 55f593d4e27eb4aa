# Arrays on the device: shape, strides, type and memory, which may be given.
# environment: NUMBA_CUDA_MEMORY_MANAGER=pyarrow_cuda_compat.numba
# needs: numba.cuda
# shows: numba_memory, Device arrays
#   numba.cuda.cudadrv.devicearray.DeviceNDArray: an array on the device, with shape, strides, type
#     and memory
#   numba.cuda.cudadrv.devicearray.DeviceNDArray(shape): its shape
#   numba.cuda.cudadrv.devicearray.DeviceNDArray(strides): its strides
#   numba.cuda.cudadrv.devicearray.DeviceNDArray(dtype): the type of its items
#   numba.cuda.cudadrv.devicearray.DeviceNDArray(stream): the stream to work on, none by default
#   numba.cuda.cudadrv.devicearray.DeviceNDArray(gpu_data): the memory; newly allocated by default
#   numba.cuda.cudadrv.devicearray.DeviceNDArray: the methods are the host's, and not for kernels
#   numba.cuda.cudadrv.devicearray.DeviceNDArray.ravel: the same items in one dimension
#   numba.cuda.cudadrv.devicearray.DeviceNDArray.ravel(order): the order to read them in
#   numba.cuda.cudadrv.devicearray.DeviceNDArray.ravel(stream): the stream to work on
#   numba.cuda.cudadrv.devicearray.DeviceNDArray.reshape: the same items in another shape
#   numba.cuda.cudadrv.devicearray.DeviceNDArray.reshape: newshape, as one tuple or as several
#     numbers: the new shape
#   numba.cuda.cudadrv.devicearray.DeviceNDArray.reshape(order): the order of the items
#   numba.cuda.cudadrv.devicearray.DeviceNDArray.is_c_contiguous: whether the items lie in row-major
#     order without gaps
#   numba.cuda.cudadrv.devicearray.DeviceNDArray.is_f_contiguous: whether the items lie in
#     column-major order without gaps
import numba.cuda
import numpy as np
from numba.cuda.cudadrv.devicearray import DeviceNDArray
from pyarrow import cuda

ctx = cuda.Context(0)
stream = numba.cuda.stream()
array = DeviceNDArray(shape=(2, 3), strides=(12, 4), dtype=np.dtype(np.float32), stream=stream)
array.shape, array.strides, array.dtype.name, array.size, array.nbytes
array.stream is stream, DeviceNDArray((2,), (4,), np.dtype(np.int32)).stream
# Its memory is allocated.
ctx.bytes_allocated
# Or it is a buffer's.
buf = ctx.buffer_from_data(np.arange(6, dtype=np.float32))
given = DeviceNDArray((3, 2), (8, 4), np.dtype(np.float32), gpu_data=buf.to_numba())
ctx.bytes_allocated, cuda.CudaBuffer.from_numba(given.gpu_data).address == buf.address
given.copy_to_host()
# The methods are the host's: a kernel cannot call them.
try:
    numba.cuda.jit("void(float32[:, :])")(lambda values: values.copy_to_host())
except Exception as error:
    print(type(error).__name__, "copy_to_host" in str(error))
del array, given, buf
ctx.bytes_allocated

# The same items in another shape: views of the same memory.
array = numba.cuda.to_device(np.arange(6, dtype=np.int32))
ctx.bytes_allocated
array.reshape(2, 3).copy_to_host()
array.reshape((3, 2)).copy_to_host()
array.reshape(2, 3, order="F").copy_to_host()
matrix = array.reshape(2, 3)
matrix.ravel().copy_to_host(), array.reshape(2, 3, order="F").ravel(order="F").copy_to_host()
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

# Whether the items of an array lie side by side, in row-major or in column-major order.
rows = numba.cuda.to_device(np.arange(12).reshape(3, 4))
columns = numba.cuda.to_device(np.asfortranarray(np.arange(12).reshape(3, 4)))
cuda.Context(0).bytes_allocated, rows.is_c_contiguous(), rows.is_f_contiguous()
columns.is_c_contiguous(), columns.is_f_contiguous()
rows[:, 1:3].is_c_contiguous(), rows[:, 1:3].is_f_contiguous()
rows[1:].is_c_contiguous(), rows[0].is_f_contiguous()
