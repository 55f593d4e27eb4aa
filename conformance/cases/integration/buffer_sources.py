# Whatever has Python's buffer protocol goes to the device, and Arrow's own buffers do.
# shows: integration, CUDA Buffers
#   Context.buffer_from_data: any object with Python's buffer protocol
#   Context.buffer_from_data: Arrow's buffers
import array

import numpy as np
import pyarrow as pa
from pyarrow import cuda

ctx = cuda.Context(0)
ctx.buffer_from_data(b"some bytes").to_pybytes()
ctx.buffer_from_data(bytearray(b"changeable")).to_pybytes()
ctx.buffer_from_data(memoryview(b"0123456789")[2:6]).to_pybytes()
ctx.buffer_from_data(array.array("h", [1, -2, 3])).to_pybytes()
ctx.buffer_from_data(pa.py_buffer(b"Arrow's buffer")).to_pybytes()
ctx.buffer_from_data(pa.py_buffer(b"Arrow's buffer").slice(8, 3)).to_pybytes()
ctx.buffer_from_data(pa.array([1, 2, 3], pa.int16()).buffers()[1].slice(0, 6)).to_pybytes()
ctx.buffer_from_data(np.arange(6, dtype=np.uint8).reshape(2, 3)).to_pybytes()
ctx.buffer_from_data(np.float64(1.5)).to_pybytes()
ctx.buffer_from_data(b"").size

# Page-locked memory, and memory that is on the device already.
pinned = cuda.new_host_buffer(4)
np.frombuffer(pinned, dtype=np.uint8)[:] = [1, 2, 3, 4]
ctx.buffer_from_data(pinned).to_pybytes()
here = ctx.buffer_from_data(b"on the device")
there = ctx.buffer_from_data(here)
(there.to_pybytes(), there.address != here.address)

# A part of the source.
ctx.buffer_from_data(b"0123456789", offset=3).to_pybytes()
ctx.buffer_from_data(b"0123456789", offset=3, size=4).to_pybytes()
ctx.buffer_from_data(b"0123456789", size=4).to_pybytes()

# Objects without bytes.
ctx.buffer_from_data("text")
ctx.buffer_from_data(None)
ctx.buffer_from_data(pa.array([1]))
ctx.buffer_from_data(np.arange(6, dtype=np.uint8)[::2])
