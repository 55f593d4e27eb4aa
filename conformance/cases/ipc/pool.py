# The bytes of a handle are allocated in the pool that is named.
# shows: pyarrow_cuda
#   IpcMemHandle.serialize(pool): the memory pool that the bytes are allocated in; the default one
#     by default
import pyarrow as pa
from pyarrow import cuda

handle = cuda.Context().buffer_from_data(b"0123456789").export_for_ipc()
pool = pa.proxy_memory_pool(pa.default_memory_pool())
pool.bytes_allocated()
opaque = handle.serialize(pool=pool)
pool.bytes_allocated() >= 72
opaque.equals(handle.serialize())
opaque.equals(handle.serialize(None))
handle.serialize(pa.default_memory_pool()).size
del opaque
pool.bytes_allocated()
handle.serialize(pool="no pool")
