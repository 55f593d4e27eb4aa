# Operands of `equals` and of the operator.
# shows: cuda_buffer, equals
#   CudaBuffer.equals: objects that are not buffers are refused
#   CudaBuffer.__eq__: the operators compare in the same way, and accept bytes
import pyarrow as pa
from pyarrow import cuda

ctx = cuda.Context(0)
buf = ctx.buffer_from_data(b"0123456789")
buf.equals(b"0123456789")
buf.equals(None)
buf.equals("0123456789")
buf.equals(pa.array([1]))

# The operator takes bytes as well.
(buf == ctx.buffer_from_data(b"0123456789"), buf == ctx.buffer_from_data(b"012345678x"))
(buf == pa.py_buffer(b"0123456789"), buf == pa.py_buffer(b"012345678x"))
(buf == b"0123456789", buf == b"012345678x", buf == bytearray(b"0123456789"))
(buf != b"0123456789", buf != b"012345678x", buf != buf)
data = b"0123456789"
(data == buf, pa.py_buffer(data) == buf)
buf in [ctx.buffer_from_data(b"other"), ctx.buffer_from_data(b"0123456789")]
buf == 5
buf < buf
