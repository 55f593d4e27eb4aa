# Arrays of Numba and device buffers share memory both ways, whether Numba compiles kernels or not.
# needs: numba.cuda
# shows: integration, Arrow to Numba
#   CudaBuffer.to_numba: without a kernel: the pointer has address, size and context of the buffer
#   CudaBuffer.to_numba: without a kernel: an array over the pointer shares the buffer's memory, and
#     retains it
# shows: integration, Numba to Arrow
#   CudaBuffer.from_numba: without a kernel: the buffer is the array's memory, and its context that
#     of the array
#   CudaBuffer.from_numba: without a kernel: the buffer and its slices retain Numba's pointer
#   CudaBuffer.size: without a kernel: the size of the Numba memory in bytes
#   CudaBuffer.address: without a kernel: the address of the Numba memory
#   Context.device_number: without a kernel: the device of the Numba context
#   CudaBuffer.copy_to_host: without a kernel: the copy on the host has the array's values
import gc
import weakref

import numba.cuda
import numpy as np
from numba.cuda.cudadrv.devicearray import DeviceNDArray
from pyarrow import cuda

ctx = cuda.Context(0)
host = np.array([7, -3, 0, 250, 99], dtype=np.int32)
buf = ctx.buffer_from_data(host)
array = DeviceNDArray(host.shape, host.strides, host.dtype, gpu_data=buf.to_numba())
array.gpu_data.context is ctx.to_numba()
(array.gpu_data.size == host.nbytes, array.gpu_data.device_pointer_value == buf.address)
# It is the buffer's memory, not a copy.
buf.copy_from_host(np.array([1, 2], dtype=np.int32)), array.copy_to_host()
array.copy_to_device(host + 10)
np.frombuffer(buf.copy_to_host(), dtype=np.int32)
# A slice's pointer begins where the slice does, and so do views of it.
view = buf.slice(8, 12).to_numba().view(4, 8)
np.frombuffer(cuda.CudaBuffer.from_numba(view).copy_to_host(), dtype=np.int32)
# The array keeps the memory when no buffer is left.
del buf, view
_ = gc.collect()
(ctx.bytes_allocated, array.copy_to_host())
del array
_ = gc.collect()
ctx.bytes_allocated
# An array that Numba has made.
array = numba.cuda.to_device(host)
buf = cuda.CudaBuffer.from_numba(array.gpu_data)
(buf.size, buf.address == array.__cuda_array_interface__["data"][0])
(buf.context.device_number, buf.context.handle == ctx.handle, buf.is_mutable, buf.is_cpu)
np.frombuffer(buf.copy_to_host(), dtype=np.int32)
buf.copy_from_host(np.array([5], dtype=np.int32), position=4), array.copy_to_host()
# The buffer keeps Numba's pointer, and so does a slice of it.
part, pointer = buf.slice(16), weakref.ref(array.gpu_data)
del array, buf
_ = gc.collect()
(pointer() is None, np.frombuffer(part.copy_to_host(), dtype=np.int32))
del part
_ = gc.collect()
pointer() is None
