# A device buffer as an object is that buffer.
from pyarrow import cuda

ctx = cuda.Context()
buf = ctx.buffer_from_data(b"0123456789")
ctx.buffer_from_object(buf) is buf
part = buf.slice(2, 3)
ctx.buffer_from_object(part) is part
