# The memory is released with the last buffer over it.
# shows: cuda_buffer, class
#   CudaBuffer: the memory is released with the buffer
#   CudaBuffer: what is not kept for other buffers, the driver no longer knows then
#   CudaBuffer: slices, readers and arrays over the memory retain it
#   CudaBuffer: empty buffers
#   CudaBuffer: it cannot be hashed, and can be referenced weakly
import ctypes
import gc
import re
import weakref

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
ctx.bytes_allocated, gc.collect() > 0, ctx.bytes_allocated
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
ctx.get_device_address(address) == address, ask_driver(address), part.address - address
del part
ctx.get_device_address(address)
_ = empty_cache(ctx)
ask_driver(address)

# A buffer of no bytes: no memory, and every operation succeeds on nothing.
empty = ctx.new_buffer(0)
empty, empty.address, empty.size, len(empty), bool(empty), ctx.bytes_allocated
(empty.to_pybytes(), empty.hex(), list(empty), empty.copy_to_host().size)
ctx.buffer_from_data(b"").address, ctx.foreign_buffer(0, 0).size, empty.copy_from_host(b"")
empty.copy_from_host(b"abc"), empty.copy_from_device(ctx.buffer_from_data(b"abc"))
empty.copy_from_device(empty, position=0, nbytes=0)
empty.copy_to_host(position=0, nbytes=0).to_pybytes()
empty.copy_to_host(position=1)
empty.copy_from_host(b"abc", nbytes=1)
(empty.slice(), empty[:])
empty.slice(1)
empty[0]
empty.equals(ctx.new_buffer(0)), empty.equals(pa.py_buffer(b"")), empty.equals(ctx.new_buffer(1))
# And a slice of no bytes.
buf = ctx.buffer_from_data(b"abc")
nothing = buf.slice(1, 0)
(nothing.size, nothing.to_pybytes(), nothing.address - buf.address, nothing.equals(empty))

# Buffers have no hash, and can be referenced weakly.
buf = ctx.buffer_from_data(b"0123456789")
hash(buf)
reference = weakref.ref(buf)
reference() is buf
gone = []
finalizer = weakref.finalize(buf, gone.append, "gone")
part = buf.slice(2)
del buf
(reference() is None, gone)
# The memory itself stays for the slice.
part.to_pybytes()
try:
    part.note = "no attributes of its own"
except AttributeError:
    "AttributeError"
