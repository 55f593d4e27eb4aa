# An address that is no memory of the device, or not as much, is refused at once.
import ctypes

from pyarrow import cuda

ctx = cuda.Context()
pageable = ctypes.create_string_buffer(64)
ctx.foreign_buffer(ctypes.addressof(pageable), 64)
ctx.foreign_buffer(0, 10)
buf = ctx.buffer_from_data(b"0123456789")
for size in (11, 2**50, 2**63 - 1):
    try:
        ctx.foreign_buffer(buf.address, size)
    except ValueError:
        print("ValueError")
ctx.foreign_buffer(buf.address, 10).to_pybytes()
