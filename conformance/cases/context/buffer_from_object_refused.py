# Objects without device memory are refused.
# shows: pyarrow_cuda
#   Context.buffer_from_object: an object without device memory raises an ArrowTypeError that names
#     its type
import numpy as np
import pyarrow as pa
from pyarrow import cuda

ctx = cuda.Context()
ctx.buffer_from_object(np.arange(3))
ctx.buffer_from_object(b"bytes")
ctx.buffer_from_object(bytearray(b"bytes"))
ctx.buffer_from_object(None)
ctx.buffer_from_object(17)
ctx.buffer_from_object(pa.py_buffer(b"host memory"))
try:
    ctx.buffer_from_object(b"bytes")
except pa.ArrowTypeError as error:
    isinstance(error, TypeError)
