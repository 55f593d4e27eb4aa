# Contexts and handles can be referenced weakly, and classes are of the documented module.
# shows: pyarrow_cuda
#   Context: can be referenced weakly
#   IpcMemHandle: can be referenced weakly
import weakref

from pyarrow import cuda

ctx = cuda.Context()
weakref.ref(ctx)() is ctx
handle = ctx.buffer_from_data(b"x").export_for_ipc()
weakref.ref(handle)() is handle
[kind.__module__ for kind in (cuda.Context, cuda.CudaBuffer, cuda.HostBuffer, cuda.IpcMemHandle)]
[kind.__name__ for kind in (cuda.BufferReader, cuda.BufferWriter)]
