# The address is a number, in device memory unless `is_cpu` is true, and slices count from it.
# shows: cuda_buffer, address
#   CudaBuffer.address: the buffer's address, as an integer
#   CudaBuffer.address: it may be a host buffer or a device buffer; `is_cpu` says which
import pyarrow as pa
from pyarrow import cuda

ctx = cuda.Context(0)
buf = ctx.buffer_from_data(b"0123456789")
type(buf.address)
buf.address == buf.address
(buf.address != 0, buf.is_cpu)
ctx.get_device_address(buf.address) == buf.address
[buf.slice(offset).address - buf.address for offset in (0, 1, 9)]
buf[3:5].address - buf.address
buf.slice(2).slice(3).address - buf.address
pa.Buffer.slice(buf, 4).address - buf.address
cuda.CudaBuffer.from_buffer(buf).address - buf.address
ctx.foreign_buffer(buf.address + 6, 2, base=buf).to_pybytes()

# Copies lie elsewhere; those on the host have an address of the host's.
ctx.buffer_from_data(buf).address == buf.address
host = buf.copy_to_host()
(host.address == buf.address, host.is_cpu)
ctx.new_buffer(0).address
buf.address = 1
