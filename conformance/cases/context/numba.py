# A context becomes a Numba context and back: the same context of the driver.
# needs: numba.cuda
# shows: pyarrow_cuda
#   Context.from_numba: a Numba context as a shared context
#   Context.from_numba(context): Numba's context; the current one by default
#   Context.to_numba: the context as a Numba context, with the same handle
#   Context.to_numba: the object that Numba already has for the device
import numba.cuda
from numba.cuda.cudadrv.driver import Context
from pyarrow import cuda

ctx = cuda.Context(0)
theirs = ctx.to_numba()
isinstance(theirs, Context), theirs.device.id, theirs.handle.value == ctx.handle
# Numba works in its own contexts only, so it gets its own.
theirs is numba.cuda.current_context()
back = cuda.Context.from_numba(theirs)
type(back), back.handle == ctx.handle, back.device_number
# By default Numba's current one.
cuda.Context.from_numba().handle == ctx.handle
cuda.Context.from_numba(None).handle == ctx.handle
cuda.Context.from_numba(context=numba.cuda.current_context()).handle == ctx.handle
# Both count the same allocations.
buf = back.new_buffer(1000)
ctx.bytes_allocated
# Memory that Numba allocates in it.
mem = theirs.memalloc(64)
cuda.CudaBuffer.from_numba(mem).size
# Something else is no context.
cuda.Context.from_numba(ctx)
