# Where the copy on the host is allocated, and whether its size can change.
# shows: cuda_buffer, copy_to_host
#   CudaBuffer.copy_to_host(memory_pool): where the new buffer is allocated
#   CudaBuffer.copy_to_host(resizable): whether the new buffer is resizable; false by default
#   CudaBuffer.copy_to_host(buf): pool and resizability apply only when no buffer is given
import pyarrow as pa
from pyarrow import cuda

ctx = cuda.Context(0)
buf = ctx.buffer_from_data(b"0123456789")
pool = pa.proxy_memory_pool(pa.default_memory_pool())

# In the pool that is named.
pool.bytes_allocated()
host = buf.copy_to_host(memory_pool=pool)
(host.to_pybytes(), pool.bytes_allocated() >= 10)
del host
pool.bytes_allocated()

# In the default one otherwise.
before = pa.total_allocated_bytes()
host = buf.copy_to_host(memory_pool=None)
(pool.bytes_allocated(), pa.total_allocated_bytes() - before >= 10)
del host
pa.total_allocated_bytes() - before

# Resizable on demand only.
type(buf.copy_to_host())
type(buf.copy_to_host(resizable=False))
host = buf.copy_to_host(position=2, nbytes=5, resizable=True)
type(host)
host.to_pybytes()
host.resize(3)
(host.size, host.to_pybytes())
host.resize(1000)
(host.size, host.slice(0, 3).to_pybytes())
host = buf.copy_to_host(memory_pool=pool, resizable=True)
(type(host), host.to_pybytes(), pool.bytes_allocated() >= 10)
del host

# Neither says anything about a buffer that is given.
given = pa.allocate_buffer(4)
same = buf.copy_to_host(buf=given, memory_pool=pool, resizable=True)
(same is given, type(same), same.to_pybytes(), pool.bytes_allocated())
