# Memory that the device does not have is an OSError and a MemoryError, the driver's words first.
# shows: additions, Device buffers
#   OutOfMemoryError: an OSError and a MemoryError: the driver's message first, then how much was
#     requested, and how much there is
# shows: pyarrow_cuda
#   Context.new_buffer: too much raises an OutOfMemoryError with the driver's message
import re

from pyarrow import cuda

ctx = cuda.Context()
before = ctx.bytes_allocated
try:
    ctx.new_buffer(2**60)
except OSError as error:
    words, figures = str(error).split("; ")
    type(error), isinstance(error, MemoryError)

words
# How much was asked for, and how much there is.
re.sub(r"\d+ of \d+ bytes are", "N of N bytes are", figures)
# Nothing has changed by that.
ctx.bytes_allocated == before
ctx.buffer_from_data(b"fine").to_pybytes()
