# Contexts of two devices as Numba's, the second being current.
# environment: NUMBA_CUDA_MEMORY_MANAGER=pyarrow_cuda_compat.numba
# needs: two devices, numba.cuda
# shows: cuda_buffer, from_numba
#   CudaBuffer.from_numba: the device of the memory is that of the pointer's context
# shows: cuda_buffer, to_numba
#   CudaBuffer.to_numba: its context is that of the buffer's device
# shows: pyarrow_cuda
#   Context.from_numba: Numba's current one may be of another device than the first
#   Context.to_numba: each device's own, which Numba already has
import numba.cuda
from pyarrow import cuda

from pyarrow_cuda_compat import memory

one, two = cuda.Context(0), cuda.Context(1)
# Each device has its own.
[ctx.to_numba() is numba.cuda.gpus[n].get_primary_context() for n, ctx in enumerate((one, two))]
back = cuda.Context.from_numba(two.to_numba())
back.device_number, back.handle == two.handle
# With none, the one that Numba works in now.
cuda.Context.from_numba().device_number
with numba.cuda.gpus[1]:
    (cuda.Context.from_numba().device_number, cuda.Context.from_numba(None).handle == two.handle)
    # A context that is given does not depend on it.
    cuda.Context.from_numba(one.to_numba()).device_number
# Memory is of the device that it was allocated on.
mem = two.buffer_from_data(b"on the second").to_numba()
mem.context is two.to_numba(), one.buffer_from_data(b"on the first").to_numba().context.device.id
buf = cuda.CudaBuffer.from_numba(mem)
buf.context.device_number, buf.context.handle == two.handle, buf.to_pybytes()
# Memory that another process is to open is named with its device.
with numba.cuda.gpus[1]:
    theirs, there = numba.cuda.current_context(), numba.cuda.device_array(3)
    handle = theirs.memory_manager.get_ipc_handle(there.gpu_data)
    handle.source_info == theirs.device.get_device_identity()
(memory.select_device(1).device_number, cuda.Context.from_numba().device_number)
# A pointer that leaves the context open is of the current one.
mem.context = None
with numba.cuda.gpus[1]:
    cuda.CudaBuffer.from_numba(mem).context.device_number
