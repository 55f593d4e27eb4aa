# A handle is 72 bytes: the buffer's size, and the driver's own handle of 64.
# shows: pyarrow_cuda
#   IpcMemHandle: a handle from CudaBuffer.export_for_ipc
#   IpcMemHandle.serialize: a host buffer of 72 bytes: the size of the memory and the driver's
#     handle
#   IpcMemHandle.from_buffer: the handle that was serialized
#   IpcMemHandle.from_buffer(opaque_handle): a host buffer with the handle's bytes
#   IpcMemHandle.serialize(pool): the memory pool that the bytes are allocated in; the default one
#     by default
#   Context.open_ipc_buffer: a handle that was never exported raises the driver's error
#   Context.open_ipc_buffer: a handle that this process exported raises the driver's error 201
import struct

import pyarrow as pa
from pyarrow import cuda

ctx = cuda.Context()
buf = ctx.buffer_from_data(b"0123456789")
handle = buf.export_for_ipc()
type(handle)
opaque = handle.serialize()
type(opaque), opaque.size, opaque.is_cpu, struct.unpack("=q", opaque.to_pybytes()[:8])
any(opaque.to_pybytes()[8:])
# Exporting again names the same memory; the memory is shared, not moved.
address = buf.address
buf.export_for_ipc().serialize().equals(opaque), buf.address == address, buf.to_pybytes()
# The bytes give the handle again.
again = cuda.IpcMemHandle.from_buffer(opaque_handle=pa.py_buffer(opaque.to_pybytes()))
(type(again), again == handle, again.serialize().equals(opaque))

# The bytes of a handle are allocated in the pool that is named.
handle = cuda.Context().buffer_from_data(b"0123456789").export_for_ipc()
pool = pa.proxy_memory_pool(pa.default_memory_pool())
pool.bytes_allocated()
opaque = handle.serialize(pool=pool)
pool.bytes_allocated() >= 72, opaque.equals(handle.serialize())
opaque.equals(handle.serialize(None)), handle.serialize(pa.default_memory_pool()).size
del opaque
pool.bytes_allocated()
handle.serialize(pool="no pool")

# Bytes that no other process has exported are the driver's error, and nothing else.
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
