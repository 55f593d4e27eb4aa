# Objects that a context has made still work when the context object is gone.
# shows: pyarrow_cuda
#   Context: buffers and arrays made from it work after the object is gone
import gc

import pyarrow as pa
from pyarrow import cuda

ctx = cuda.Context()
number = ctx.handle
buf = ctx.buffer_from_data(b"0123456789")
reader, writer = cuda.BufferReader(buf), cuda.BufferWriter(buf)
manager = ctx.memory_manager
pinned = cuda.new_host_buffer(4)
del ctx
_ = gc.collect()
(buf.to_pybytes(), buf.context.handle == number)
writer.writeat(2, b"XY")
reader.read()
buf.copy_from_device(buf.context.buffer_from_data(b"ab"))
pa.array([1, 2]).copy_to(manager).copy_to(pa.default_cpu_memory_manager()).to_pylist()
buf.context.buffer_from_object(pinned).size
