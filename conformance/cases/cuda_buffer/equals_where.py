# A single byte that differs is found wherever it is, at any size and alignment.
# shows: cuda_buffer, equals
#   CudaBuffer.equals: one byte that differs is enough, at any place, size and alignment
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
