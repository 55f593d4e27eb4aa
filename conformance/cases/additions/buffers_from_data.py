# The data of many objects goes to the device together.
# shows: additions, Device buffers
#   Context.buffers_from_data: a buffer for each of several objects, whose data goes to the device
#     together
#   Context.buffers_from_data(data): any iterable of what `buffer_from_data` takes
import numpy as np
import pyarrow as pa
from pyarrow import cuda

ctx = cuda.Context()
before = ctx.bytes_allocated
there = ctx.buffer_from_data(b"there already")
objects = [b"bytes", b"", np.arange(3, dtype=np.uint16), pa.py_buffer(b"Arrow"), there]
bufs = ctx.buffers_from_data(objects)
type(bufs), {type(buf) for buf in bufs}
[buf.size for buf in bufs]
[buf.to_pybytes() for buf in bufs]
[buf.address % 256 for buf in bufs]
# A copy of device memory, too, is not a view.
bufs[4].copy_from_host(b"HERE!")
there.to_pybytes()
# Any iterable will do; the rows of a matrix are objects, too.
[row.to_pybytes() for row in ctx.buffers_from_data(data=np.eye(2, dtype=np.uint8))]
ctx.buffers_from_data(word.encode() for word in ("one", "two"))[1].to_pybytes()
ctx.buffers_from_data([])
# Objects without bytes are refused before anything is allocated.
used = ctx.bytes_allocated
ctx.buffers_from_data([b"bytes", None])
ctx.buffers_from_data(b"bytes")
ctx.buffers_from_data(None)
ctx.bytes_allocated == used
del there, bufs, objects
ctx.bytes_allocated == before
