# Device buffers as Numba's memory pointers, and back.
# needs: numba.cuda
# shows: cuda_buffer, from_numba
#   CudaBuffer.from_numba: a device buffer over the memory of a Numba pointer
#   CudaBuffer.from_numba(mem): the pointer, a MemoryPointer
#   CudaBuffer.from_numba: returns a view, without a copy
#   CudaBuffer.from_numba: size 0: address 0
# shows: cuda_buffer, to_numba
#   CudaBuffer.to_numba: a Numba MemoryPointer over the buffer's memory
#   CudaBuffer.to_numba: the buffer is the pointer's owner
import gc

import numpy as np
from numba.cuda.cudadrv.devicearray import DeviceNDArray
from numba.cuda.cudadrv.driver import MemoryPointer
from pyarrow import cuda

ctx = cuda.Context(0)
buf = ctx.buffer_from_data(b"sixteen  letters")
mem = buf.to_numba()
isinstance(mem, MemoryPointer), mem.size, mem.device_pointer_value == buf.address
mem.context.device.id, mem.owner is buf
# There and back: the same memory.
again = cuda.CudaBuffer.from_numba(mem=mem)
again.address == buf.address, again.to_pybytes(), again.context.handle == buf.context.handle
# Views of the pointer, kept alone, keep the memory.
view = mem.view(9, 13)
del buf, mem, again
_ = gc.collect()
cuda.CudaBuffer.from_numba(view).to_pybytes(), ctx.bytes_allocated
del view
_ = gc.collect()
ctx.bytes_allocated
# No memory at all.
empty = ctx.new_buffer(0).to_numba()
empty.device_pointer_value
empty.size, cuda.CudaBuffer.from_numba(empty).size, cuda.CudaBuffer.from_numba(empty).address
DeviceNDArray((0,), (4,), np.dtype(np.int32), gpu_data=empty).copy_to_host()
# Only a pointer will do.
cuda.CudaBuffer.from_numba(
    DeviceNDArray((1,), (1,), np.dtype(np.uint8), gpu_data=ctx.new_buffer(1).to_numba())
)
cuda.CudaBuffer.from_numba(None)
