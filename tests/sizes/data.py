"""Makes large data on the device, and looks at a few rows of it."""

import pyarrow as pa
from pyarrow import cuda

HOST = pa.default_cpu_memory_manager()
#: The largest number that 32 bits hold, and more rows than that.
MOST = 2**31 - 1
ROWS = MOST + 50_000_000
#: Rows of strings with `WIDTH` bytes each: more bytes than offsets of 32 bits count.
WIDTH = 1000
WORDS = MOST // WIDTH + 150_000


def up(data):
    return data.copy_to(0)


def down(data):
    return data.copy_to(HOST)


def buffer(array):
    """The memory of a CuPy array."""
    return cuda.Context(0).buffer_from_object(array)


def word(row):
    """The string in a row of `words`."""
    return chr(97 + row % 26) * WIDTH


def words(cupy, rows, start=0, bytes_=None):
    """`rows` different strings, of which the last is shorter if the number of bytes is given."""
    letters = (97 + (start + cupy.arange(rows)) % 26).astype(cupy.uint8)
    data = cupy.repeat(letters, WIDTH)
    offsets = cupy.arange(rows + 1, dtype=cupy.int64) * WIDTH
    if bytes_ is not None:
        data, offsets[rows] = data[:bytes_], bytes_
    buffers = [None, buffer(offsets.astype(cupy.int32)), buffer(data)]
    return pa.Array.from_buffers(pa.string(), rows, buffers, 0)


def numbers(cupy, rows):
    """The low bytes of the numbers of the rows, as integers of a byte."""
    values = cupy.arange(rows, dtype=cupy.uint32).astype(cupy.uint8)
    return pa.Array.from_buffers(pa.uint8(), rows, [None, buffer(values)], 0)


def bits(cupy, rows, true):
    """Booleans of which a few are true."""
    values = cupy.zeros(rows // 8, cupy.uint8)
    for row in true:
        values[row // 8] |= 1 << row % 8
    return pa.Array.from_buffers(pa.bool_(), rows, [None, buffer(values)], 0)


def at(data, row, count=1):
    """Some rows as values of Python."""
    return down(data.slice(row, count)).to_pylist()


def ends(rows):
    """The first and last rows, and those around each multiple of 2^31 and of its half."""
    near = [near + each for near in range(0, rows, 2**30) for each in (-1, 0, 1)]
    return sorted({row for row in [*near, rows - 1] if 0 <= row < rows})
