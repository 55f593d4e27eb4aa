# A single byte that differs is found wherever it is, at any size and alignment.
# shows: cuda_buffer, equals
#   CudaBuffer.equals: one byte that differs is enough, at any place, size and alignment
#   CudaBuffer.equals: large buffers are compared to their end
import pyarrow as pa
from pyarrow import cuda

ctx = cuda.Context(0)


def data(size):
    return (bytes(range(251)) * (size // 251 + 1))[:size]


def at(offset, content):
    # In surroundings that differ each time, and must not count.
    surrounded = bytes([offset + 1]) * offset + content + bytes([offset + 100]) * 16
    return ctx.buffer_from_data(surrounded).slice(offset, len(content))


def found(size, place, ours=0, theirs=0):
    left, right = at(ours, data(size)), at(theirs, data(size))
    same = left.equals(right), right.equals(left), left.equals(right.copy_to_host())
    right.copy_from_host(bytes([data(size)[place] ^ 1]), position=place)
    other = left.equals(right), right.equals(left), left.equals(right.copy_to_host())
    return same == (True, True, True) and other == (False, False, False)


SIZES = (1, 2, 3, 4, 7, 8, 15, 16, 17, 31, 33, 4095, 4096, 4097, 65535, 65536, 65537)
[size for size in SIZES if not found(size, 0)]
[size for size in SIZES if not found(size, size // 2)]
[size for size in SIZES if not found(size, size - 1)]
# Buffers that begin at odd addresses, alike and not.
[
    (size, offset)
    for size in (1, 16, 17, 4097)
    for offset in range(1, 16)
    if not (found(size, 0, offset, offset) and found(size, size - 1, offset, offset))
]
[
    (size, offset)
    for size in (1, 16, 17, 4097)
    for offset in range(1, 16)
    if not (found(size, 0, offset) and found(size, size - 1, 0, offset))
]
# Every place in a few hundred bytes.
[place for place in range(300) if not found(300, place, 3, 5)]
# Sizes next to each other differ, whatever the bytes are.
[size for size in SIZES if at(0, data(size)).equals(at(0, data(size + 1)))]
[size for size in SIZES if at(0, data(size)).equals(pa.py_buffer(data(size + 1)))]

# Large buffers are compared to their last byte, on the device and with the host.
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
