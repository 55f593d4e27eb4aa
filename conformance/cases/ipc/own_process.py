# A process cannot open memory that it has exported itself: the driver refuses.
# shows: pyarrow_cuda, Context.open_ipc_buffer
#   Context.open_ipc_buffer: a handle that this process exported raises the driver's error 201
from pyarrow import cuda

ctx = cuda.Context()
buf = ctx.buffer_from_data(b"0123456789")
handle = buf.export_for_ipc()
ctx.open_ipc_buffer(handle)
ctx.open_ipc_buffer(cuda.IpcMemHandle.from_buffer(handle.serialize()))
buf.to_pybytes()
