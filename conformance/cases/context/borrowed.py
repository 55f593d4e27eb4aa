# A context that another library has made is borrowed by its handle.
# shows: pyarrow_cuda
#   Context(handle): the handle of a context of another library, which is borrowed; 0, the default,
#     for the primary context
import ctypes
import re

import pyarrow as pa
from pyarrow import cuda

primary = cuda.Context()
driver = ctypes.CDLL(re.search(r"/\S*libcuda(_sim)?\.so\S*", open("/proc/self/maps").read())[0])
made = ctypes.c_void_p()
driver.cuCtxCreate_v2(ctypes.byref(made), 0, 0)
driver.cuCtxPopCurrent_v2(ctypes.byref(ctypes.c_void_p()))
ctx = cuda.Context(device_number=0, handle=made.value)
(ctx.device_number, ctx.handle == made.value, ctx.handle == primary.handle, ctx == primary, ctx)
# It allocates memory, whose buffers name this context.
before = primary.bytes_allocated
buf = ctx.buffer_from_data(b"0123456789")
buf.context.handle == made.value, ctx.bytes_allocated, primary.bytes_allocated - before
buf.slice(3, 4).to_pybytes()
there = primary.buffer_from_data(b"..........")
there.copy_from_device(buf), there.to_pybytes(), buf.equals(there), there.equals(buf)
buf.copy_from_device(primary.buffer_from_data(b"XY"), position=8), buf.to_pybytes()
(buf.equals(there), there.equals(buf))
# It waits for the work of its own streams: here 200 ms of the C library, and a fill.
driver.cuCtxPushCurrent_v2(made)
stream = ctypes.c_void_p()
driver.cuStreamCreate(ctypes.byref(stream), 1)
driver.cuLaunchHostFunc(stream, ctypes.CDLL(None).usleep, ctypes.c_void_p(200_000))
at, count = ctypes.c_uint64(buf.address), ctypes.c_size_t(5)
driver.cuMemsetD8Async(at, ctypes.c_ubyte(ord("!")), count, stream)
driver.cuCtxPopCurrent_v2(ctypes.byref(ctypes.c_void_p()))
ctx.synchronize()
driver.cuStreamQuery(stream)
buf.to_pybytes()
batch = pa.record_batch({"x": [1, 2]})
message = cuda.serialize_record_batch(batch, ctx)
message.context.handle == made.value
# The handle of the primary context gives the primary context.
cuda.Context(0, primary.handle).bytes_allocated == primary.bytes_allocated
# Once its maker has destroyed it, it is an error to use it, and no more.
del buf, message
driver.cuCtxDestroy_v2(made)
ctx.new_buffer(10)
ctx.synchronize()
primary.buffer_from_data(b"fine").to_pybytes()
