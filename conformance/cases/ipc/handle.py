# A handle is 72 bytes: the buffer's size, and the driver's own handle of 64.
# shows: pyarrow_cuda
#   IpcMemHandle: a handle from CudaBuffer.export_for_ipc
#   IpcMemHandle.serialize: a host buffer of 72 bytes: the size of the memory and the driver's
#     handle
#   IpcMemHandle.from_buffer: the handle that was serialized
#   IpcMemHandle.from_buffer(opaque_handle): a host buffer with the handle's bytes
import struct

import pyarrow as pa
from pyarrow import cuda

ctx = cuda.Context()
buf = ctx.buffer_from_data(b"0123456789")
handle = buf.export_for_ipc()
type(handle)
opaque = handle.serialize()
(type(opaque), opaque.size, opaque.is_cpu)
struct.unpack("=q", opaque.to_pybytes()[:8])
any(opaque.to_pybytes()[8:])
# Exporting again names the same memory; the memory is shared, not moved.
address = buf.address
buf.export_for_ipc().serialize().equals(opaque)
(buf.address == address, buf.to_pybytes())
# The bytes give the handle again.
again = cuda.IpcMemHandle.from_buffer(opaque_handle=pa.py_buffer(opaque.to_pybytes()))
(type(again), again == handle, again.serialize().equals(opaque))
