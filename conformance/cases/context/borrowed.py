# A context that another library has made is borrowed by its handle.
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
(ctx.device_number, ctx.handle == made.value, ctx.handle == primary.handle)
# It allocates for itself, and what it allocates says so.
before = primary.bytes_allocated
buf = ctx.buffer_from_data(b"0123456789")
buf.context.handle == made.value
(ctx.bytes_allocated, primary.bytes_allocated - before)
buf.slice(3, 4).to_pybytes()
primary.buffer_from_data(b"abc").copy_from_device(buf)
ctx.synchronize()
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
