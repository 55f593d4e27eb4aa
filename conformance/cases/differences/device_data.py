# Data that lies on a device is taken for what it is, wherever data is taken.
# shows: additions, Files
#   BufferWriter.write: device memory is accepted as data
import pyarrow as pa
from pyarrow import cuda

ctx = cuda.Context()
source = ctx.buffer_from_data(b"0123456789")
generic = pa.Array.from_buffers(pa.uint8(), 10, [None, source]).buffers()[1]
(type(generic), generic.is_cpu)
ctx.buffer_from_data(generic).to_pybytes()
ctx.buffer_from_data(generic, offset=7).to_pybytes()
target = ctx.buffer_from_data(b"..........")
target.copy_from_host(source.slice(0, 3))
target.copy_from_host(generic, position=5, nbytes=2)
target.to_pybytes()
writer = cuda.BufferWriter(target)
writer.write(source.slice(6, 2))
writer.writeat(7, generic.slice(0, 3))
target.to_pybytes()
