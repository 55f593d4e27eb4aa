# The memory is released with the last buffer over it.
# shows: cuda_buffer, class
#   CudaBuffer: the memory is released with the buffer
#   CudaBuffer: what is not kept for other buffers, the driver no longer knows then
#   CudaBuffer: slices, readers and arrays over the memory retain it
import ctypes
import gc
import re

import pyarrow as pa
from pyarrow import cuda

from pyarrow_cuda_compat import empty_cache

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

# Not only the counter goes down.  What is kept for other buffers is nobody's memory any more; and
# when all of that is given back, the driver itself does not know it: 1 instead of 0.
driver = ctypes.CDLL(re.search(r"/\S*libcuda(_sim)?\.so\S*", open("/proc/self/maps").read())[0])
_ = driver.cuCtxSetCurrent(ctypes.c_void_p(ctx.handle))


def ask_driver(address):
    """The driver's answer to the question of which type the memory is."""
    kind = ctypes.c_uint64()
    return driver.cuPointerGetAttribute(ctypes.byref(kind), 2, ctypes.c_uint64(address))


large = ctx.new_buffer(8 << 20)
address = large.address
part = large.slice(4 << 20)
del large
_ = empty_cache(ctx)
(ctx.get_device_address(address) == address, ask_driver(address))
part.address - address
del part
ctx.get_device_address(address)
_ = empty_cache(ctx)
ask_driver(address)
