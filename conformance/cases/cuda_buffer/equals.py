# Two buffers are equal when their sizes and all of their bytes are.
# shows: cuda_buffer, equals
#   CudaBuffer.equals: whether two buffers hold exactly the same data
#   CudaBuffer.equals(other): the other buffer: on the device or on the host
#   CudaBuffer.equals: true when sizes and contents are equal, false otherwise
#   CudaBuffer.equals: objects that are not buffers are refused
#   CudaBuffer.__eq__: the operators compare in the same way, and accept bytes
# shows: additions, Device buffers
#   CudaBuffer.equals: equality of the bytes, on the device and between device and host
import pyarrow as pa
from pyarrow import cuda

ctx = cuda.Context(0)
buf = ctx.buffer_from_data(b"0123456789")
# Another buffer on the device.
DATA = (b"0123456789", b"x123456789", b"01234x6789", b"012345678x", b"012345678", b"0123456789\0")
[buf.equals(ctx.buffer_from_data(data)) for data in DATA], buf.equals(ctx.new_buffer(0))
# A buffer on the host, pageable or page-locked.
[buf.equals(pa.py_buffer(data)) for data in DATA], buf.equals(other=buf.copy_to_host())
pinned = cuda.new_host_buffer(10)
buf.equals(buf.copy_to_host(buf=pinned))
memoryview(pinned).cast("B")[9] = 0
buf.equals(pinned)
# Itself, its slices, and generic views.
buf.equals(buf), buf.equals(buf.slice(0)), buf.equals(buf.slice(0, 9)), buf.equals(buf.slice(1))
buf.slice(2, 3).equals(pa.py_buffer(b"234"))
buf.slice(2, 3).equals(ctx.buffer_from_data(b"--234--").slice(2, 3))
(buf.equals(pa.Buffer.slice(buf, 0)), buf.equals(pa.Buffer.slice(buf, 1)))
# It sees what the memory holds now.
twin = ctx.buffer_from_data(buf)
twin.copy_from_host(b"X", position=9)
(buf.equals(twin), twin.copy_from_host(b"9", position=9), buf.equals(twin))

# Operands of `equals` and of the operator.
buf = ctx.buffer_from_data(b"0123456789")
buf.equals(b"0123456789")
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
