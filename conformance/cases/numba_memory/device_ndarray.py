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
ctx.bytes_allocated
cuda.CudaBuffer.from_numba(given.gpu_data).address == buf.address
given.copy_to_host()
# The methods are the host's: a kernel cannot call them.
try:
    numba.cuda.jit("void(float32[:, :])")(lambda values: values.copy_to_host())
except Exception as error:
    print(type(error).__name__, "copy_to_host" in str(error))

del array, given, buf
ctx.bytes_allocated
