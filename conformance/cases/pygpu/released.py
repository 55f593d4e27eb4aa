# PyGPU's GPUArray allocates its device memory, and releases it.
# shows: pygpu, High-level interface
#   PyGPU.GPUArray: device memory is allocated and released automatically
import gc

import numpy as np
from pyarrow import cuda

import pyarrow_cuda_compat.pygpu as gpuarray

ctx = cuda.Context(0)
ctx.bytes_allocated
array = gpuarray.GPUArray((1000,), dtype="float32")
(array.ptr > 0, array.last_status)
ctx.bytes_allocated
sent = gpuarray.to_gpu(np.zeros(10))
ctx.bytes_allocated
# A copy made by an index has memory of its own.
part = sent[2:4]
ctx.bytes_allocated
# A pointer keeps the memory that it points to, and so does a view of another library.
pointer, view = sent.device_data, cuda.Context(0).buffer_from_object(part)
del array, sent, part
_ = gc.collect()
ctx.bytes_allocated
del pointer, view
ctx.bytes_allocated
# Too much is a status, and nothing stays allocated.
endless = gpuarray.GPUArray(np.broadcast_to(np.float64(1), (2**40,)))
endless.last_status
endless.__cuda_array_interface__
np.asarray(endless)
(endless.ptr, ctx.bytes_allocated)
