# The memory is released with the last buffer over it.
import gc

import pyarrow as pa
from pyarrow import cuda

ctx = cuda.Context(0)
ctx.bytes_allocated
buf = ctx.new_buffer(1000)
other = ctx.buffer_from_data(b"x" * 24)
ctx.bytes_allocated
del other
ctx.bytes_allocated

# Slices, converted buffers, readers and arrays keep all of it.
part = buf.slice(990)
part.copy_from_host(b"0123456789")
del buf
(ctx.bytes_allocated, part.to_pybytes())
reader = cuda.BufferReader(part.slice(5))
array = pa.Array.from_buffers(pa.uint8(), 10, [None, part])
converted = cuda.CudaBuffer.from_buffer(array.buffers()[1])
del part
(ctx.bytes_allocated, reader.read(), converted.to_pybytes())
del reader, converted
(ctx.bytes_allocated, array.copy_to(pa.default_cpu_memory_manager()).to_pylist())
del array
ctx.bytes_allocated

# A cycle is collected like any other.
cycle = [ctx.new_buffer(500)]
cycle.append(cycle)
del cycle
ctx.bytes_allocated
gc.collect() > 0
ctx.bytes_allocated

# Not only the counter goes down: the driver knows the memory until then, and no longer.
large = ctx.new_buffer(8 << 20)
address = large.address
part = large.slice(4 << 20)
del large
ctx.get_device_address(address) == address
part.address - address
del part
ctx.get_device_address(address)
