# Writing at a position while bytes wait in the host buffer: both land where they belong.
from pyarrow import cuda

ctx = cuda.Context()


def write(position):
    buf = ctx.buffer_from_data(b"..........")
    with cuda.BufferWriter(buf) as writer:
        writer.buffer_size = 8
        writer.seek(2)
        writer.write(b"abc")
        writer.writeat(position, b"XY")
        writer.write(b"Z")
    return buf.to_pybytes()


[write(position) for position in (0, 1, 3, 7)]
