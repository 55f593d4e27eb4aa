# A handle's bytes give the handle again.
# shows: pyarrow_cuda, IpcMemHandle.from_buffer
#   IpcMemHandle.from_buffer: the handle that was serialized
#   IpcMemHandle.from_buffer(opaque_handle): a host buffer with the handle's bytes
import pyarrow as pa
from pyarrow import cuda

ctx = cuda.Context()
opaque = ctx.buffer_from_data(b"0123456789").export_for_ipc().serialize()
handle = cuda.IpcMemHandle.from_buffer(opaque)
type(handle)
handle.serialize().equals(opaque)
cuda.IpcMemHandle.from_buffer(opaque_handle=pa.py_buffer(opaque.to_pybytes())).serialize() == opaque
again = cuda.IpcMemHandle.from_buffer(handle.serialize())
again.serialize().equals(opaque)
