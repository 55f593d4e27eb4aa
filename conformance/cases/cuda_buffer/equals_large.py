# Large buffers are compared to their last byte, on the device and with the host.
# shows: cuda_buffer, equals
#   CudaBuffer.equals: large buffers are compared to their end
import pyarrow as pa
from pyarrow import cuda

ctx = cuda.Context(0)
size = (9 << 20) + 5
content = bytearray(bytes(range(251)) * (size // 251 + 1))[:size]
buf, twin = ctx.buffer_from_data(content), ctx.buffer_from_data(content)
host = pa.py_buffer(content)
(buf.equals(twin), buf.equals(host))


def seen(place):
    byte = content[place]
    twin.copy_from_host(bytes([byte ^ 0x80]), position=place)
    content[place] = byte ^ 0x80
    found = not buf.equals(twin), not buf.equals(host), twin.equals(host)
    content[place] = byte
    twin.copy_from_host(bytes([byte]), position=place)
    return found


MIB = 1 << 20
PLACES = (0, MIB - 1, MIB, 4 * MIB - 1, 4 * MIB, 8 * MIB - 1, 8 * MIB, size - 1)
[place for place in PLACES if seen(place) != (True, True, True)]
(buf.equals(twin), buf.equals(host))
(buf.slice(1).equals(twin.slice(1)), buf.slice(0, size - 1).equals(twin))
buf.slice(1).equals(ctx.buffer_from_data(content[1:]))
