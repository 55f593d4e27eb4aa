# Buffers on two devices compare by what they hold.
# needs: two devices
# shows: cuda_buffer, equals
#   CudaBuffer.equals: buffers on two devices
# shows: additions, Device buffers
#   CudaBuffer.equals: equality of buffers on two devices
from pyarrow import cuda

here, there = cuda.Context(0), cuda.Context(1)
buf = here.buffer_from_data(b"0123456789")
far = there.buffer_from_data(b"0123456789")
(buf.equals(far), far.equals(buf), buf == far)
far.copy_from_host(b"X", position=9)
(buf.equals(far), far.equals(buf), buf != far)
(buf.slice(0, 9).equals(far.slice(0, 9)), buf.slice(0, 9).equals(far))
data = bytes(range(251)) * 20_000
large, twin = here.buffer_from_data(data), there.buffer_from_data(data)
large.equals(twin)
twin.copy_from_host(b"\xff", position=len(data) - 1)
large.equals(twin)
large.slice(0, len(data) - 1).equals(twin.slice(0, len(data) - 1))
data = bytes(64 << 20) + b"x"
here.buffer_from_data(data).equals(there.buffer_from_data(data))
