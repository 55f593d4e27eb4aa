# Bytes that no other process has exported are the driver's error, and nothing else.
# shows: pyarrow_cuda
#   Context.open_ipc_buffer: a handle that was never exported raises the driver's error
#   Context.open_ipc_buffer: a handle that this process exported raises the driver's error 201
import pyarrow as pa
from pyarrow import cuda

ctx = cuda.Context()
handle = cuda.IpcMemHandle.from_buffer(pa.py_buffer((10).to_bytes(8, "little") + bytes(64)))
handle.serialize().size
try:
    ctx.open_ipc_buffer(handle)
except OSError as error:
    str(error).startswith("Cuda error ")
cuda.IpcMemHandle.from_buffer("text")
# Nor does it open memory that this process has exported itself.
buf = ctx.buffer_from_data(b"fine")
handle = buf.export_for_ipc()
ctx.open_ipc_buffer(handle)
ctx.open_ipc_buffer(cuda.IpcMemHandle.from_buffer(handle.serialize()))
buf.to_pybytes()
