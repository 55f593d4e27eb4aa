# A buffer of no bytes is shared as its size alone.
# shows: pyarrow_cuda, IpcMemHandle.serialize
#   IpcMemHandle.serialize: the handle of an empty buffer contains only its size
import pyarrow as pa
from pyarrow import cuda

ctx = cuda.Context()
opaque = ctx.new_buffer(0).export_for_ipc().serialize()
opaque.to_pybytes()
handle = cuda.IpcMemHandle.from_buffer(pa.py_buffer(bytes(8)))
ctx.open_ipc_buffer(handle).size
handle.serialize().equals(opaque)
