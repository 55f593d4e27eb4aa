# Numba's arrays in memory of this package's contexts, by the program's own choice.
# needs: numba.cuda
# shows: additions, Numba's memory manager
#   pyarrow_cuda_compat.numba.memory_manager: the same, set by the program
#   pyarrow_cuda_compat.numba.memory_manager(context): the Numba context to allocate memory in
#   CudaBuffer.from_numba: exports the memory of such arrays itself, and retains it for them
import gc

import numba.cuda
import numpy as np
from pyarrow import cuda

import pyarrow_cuda_compat.numba

pyarrow_cuda_compat.numba.memory_manager().interface_version
numba.cuda.set_memory_manager(pyarrow_cuda_compat.numba.memory_manager)
ctx = cuda.Context(0)
array = numba.cuda.to_device(np.arange(100, dtype=np.int32))
ctx.bytes_allocated, type(numba.cuda.current_context().memory_manager).__name__
manager = pyarrow_cuda_compat.numba.memory_manager(context=numba.cuda.current_context())
manager.get_memory_info().total > 0
# A buffer over the array's memory, which it has for itself: the array may go.
buf = cuda.CudaBuffer.from_numba(array[10:20].gpu_data)
buf.size, buf.context.device_number
del array
_ = gc.collect()
ctx.bytes_allocated, np.frombuffer(buf.copy_to_host(), np.int32)
# It can be shared with other processes, like any buffer of the package.
buf.export_for_ipc().serialize().size
del buf
# Objects that are not Numba contexts are refused.
pyarrow_cuda_compat.numba.memory_manager(context="context")
