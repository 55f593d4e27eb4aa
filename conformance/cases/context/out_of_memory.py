# Memory that the device does not have is an OSError with the driver's words.
from pyarrow import cuda

ctx = cuda.Context()
before = ctx.bytes_allocated
ctx.new_buffer(2**60)
try:
    ctx.new_buffer(2**50)
except OSError as error:
    type(error), isinstance(error, MemoryError)
# Nothing has changed by that.
ctx.bytes_allocated == before
ctx.buffer_from_data(b"fine").to_pybytes()
