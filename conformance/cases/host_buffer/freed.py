# Page-locked memory is released with the last buffer over it.
# shows: pyarrow_cuda
#   HostBuffer: the memory is released with the last buffer over it
from pyarrow import cuda

ctx = cuda.Context()
buf = cuda.new_host_buffer(1 << 20)
address = buf.address
part = buf.slice(100, 50)
del buf
ctx.get_device_address(address) == address
(len(part.to_pybytes()), part.address - address)
del part
ctx.get_device_address(address)
