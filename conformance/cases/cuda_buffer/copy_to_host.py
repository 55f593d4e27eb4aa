# From the device to the host: everything, from a position on, and so many bytes.
# shows: cuda_buffer, copy_to_host
#   CudaBuffer.copy_to_host: copies from the device to the host
#   CudaBuffer.copy_to_host(position): where in the device buffer the copy begins, in bytes
#   CudaBuffer.copy_to_host(nbytes): how many bytes to copy
#   CudaBuffer.copy_to_host(nbytes): default -1: everything from the position on
#   CudaBuffer.copy_to_host: default None: a new buffer on the host
#   CudaBuffer.copy_to_host(position): positions outside the buffer are refused
#   CudaBuffer.copy_to_host(nbytes): more bytes than the source has, or than fit, are refused
#   CudaBuffer.copy_to_host(buf): objects that are not mutable host buffers are refused
#   CudaBuffer.copy_to_host(memory_pool): where the new buffer is allocated
#   CudaBuffer.copy_to_host(resizable): whether the new buffer is resizable; false by default
#   CudaBuffer.copy_to_host(buf): pool and resizability apply only when no buffer is given
import pyarrow as pa
from pyarrow import cuda

ctx = cuda.Context(0)
buf = ctx.buffer_from_data(b"0123456789")
buf.copy_to_host().to_pybytes(), buf.copy_to_host(position=0, nbytes=-1).to_pybytes()
buf.copy_to_host(position=3).to_pybytes(), buf.copy_to_host(nbytes=4).to_pybytes()
buf.copy_to_host(position=3, nbytes=4).to_pybytes(), buf.copy_to_host(3, 4).to_pybytes()
buf.copy_to_host(position=9, nbytes=1).to_pybytes()
[buf.copy_to_host(position=position).size for position in range(11)]
# No bytes, and the very end.
buf.copy_to_host(nbytes=0).to_pybytes(), buf.copy_to_host(position=10).to_pybytes()
buf.copy_to_host(position=10, nbytes=0).to_pybytes()
# Every call gives a new buffer on the host, which can be written to.
first, second = buf.copy_to_host(), buf.copy_to_host()
type(first), first.is_cpu, first.is_mutable, first.address != second.address
memoryview(first).cast("B")[0] = ord("x")
(first.to_pybytes(), second.to_pybytes(), buf.to_pybytes())
# Of a slice: counted from its start.
buf.slice(2, 5).copy_to_host(position=1, nbytes=3).to_pybytes()
buf.slice(2, 5).copy_to_host(position=1).to_pybytes()

# Arguments that a copy to the host refuses.
buf = ctx.buffer_from_data(b"0123456789")
buf.copy_to_host(position=-1)
buf.copy_to_host(position=11)
buf.copy_to_host(nbytes=11)
buf.copy_to_host(position=8, nbytes=3)
buf.copy_to_host(nbytes=2**62, buf=cuda.new_host_buffer(11))
buf.slice(2, 3).copy_to_host(nbytes=4)
buf.copy_to_host(nbytes=2.5)
# Objects that are not buffers, are read-only, or lie on the device.
buf.copy_to_host(buf=bytearray(10))
buf.copy_to_host(buf=pa.py_buffer(b"0000000000"))
buf.copy_to_host(buf=ctx.new_buffer(10))
buf.copy_to_host(memory_pool="default")
# Any negative number of bytes stands for all.
buf.copy_to_host(position=7, nbytes=-5).to_pybytes()

# Where the copy on the host is allocated, and whether its size can change.
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
type(buf.copy_to_host()), type(buf.copy_to_host(resizable=False))
host = buf.copy_to_host(position=2, nbytes=5, resizable=True)
type(host), host.to_pybytes()
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
