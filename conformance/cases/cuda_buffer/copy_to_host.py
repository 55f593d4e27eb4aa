# From the device to the host: everything, from a position on, and so many bytes.
# shows: cuda_buffer, copy_to_host
#   CudaBuffer.copy_to_host: copies from the device to the host
#   CudaBuffer.copy_to_host(position): where in the device buffer the copy begins, in bytes
#   CudaBuffer.copy_to_host(nbytes): how many bytes to copy
#   CudaBuffer.copy_to_host(nbytes): default -1: everything from the position on
#   CudaBuffer.copy_to_host: default None: a new buffer on the host
from pyarrow import cuda

ctx = cuda.Context(0)
buf = ctx.buffer_from_data(b"0123456789")
buf.copy_to_host().to_pybytes()
buf.copy_to_host(position=0, nbytes=-1).to_pybytes()
buf.copy_to_host(position=3).to_pybytes()
buf.copy_to_host(nbytes=4).to_pybytes()
buf.copy_to_host(position=3, nbytes=4).to_pybytes()
buf.copy_to_host(3, 4).to_pybytes()
buf.copy_to_host(position=9, nbytes=1).to_pybytes()
[buf.copy_to_host(position=position).size for position in range(11)]

# No bytes, and the very end.
buf.copy_to_host(nbytes=0).to_pybytes()
buf.copy_to_host(position=10).to_pybytes()
buf.copy_to_host(position=10, nbytes=0).to_pybytes()

# Every call gives a new buffer on the host, which can be written to.
first, second = buf.copy_to_host(), buf.copy_to_host()
type(first)
(first.is_cpu, first.is_mutable, first.address != second.address)
memoryview(first).cast("B")[0] = ord("x")
(first.to_pybytes(), second.to_pybytes(), buf.to_pybytes())

# Of a slice: counted from its start.
buf.slice(2, 5).copy_to_host(position=1, nbytes=3).to_pybytes()
buf.slice(2, 5).copy_to_host(position=1).to_pybytes()
