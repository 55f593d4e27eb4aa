# With a host buffer writes are collected, and reach the device when it is full or flushed.
# shows: pyarrow_cuda
#   BufferWriter.flush: writes the bytes in the host buffer to the device
#   BufferWriter.buffer_size: the size of the host buffer in bytes; 0, as at first, for none;
#     setting it flushes
#   BufferWriter.num_bytes_buffered: the number of bytes that wait in the host buffer; a full one is
#     flushed; cannot be set
#   BufferWriter.tell: the position in bytes, including buffered ones
#   BufferWriter.write: data larger than the host buffer is written directly to the device
#   BufferWriter.writeat: writes at a position, and continues after it; returns None
#   BufferWriter.writeat(position): where to write, in bytes; outside the buffer raises an OSError
#   BufferWriter.writeat(data): anything with the buffer protocol
import numpy as np
from pyarrow import cuda

buf = cuda.Context().buffer_from_data(b"..........")
writer = cuda.BufferWriter(buf)
writer.buffer_size = 4
writer.buffer_size, writer.num_bytes_buffered, writer.write(b"abc")
(writer.num_bytes_buffered, writer.tell(), buf.to_pybytes())
writer.flush()
(writer.num_bytes_buffered, writer.tell(), buf.to_pybytes())
# Full: everything goes out.
writer.write(b"de"), writer.num_bytes_buffered, writer.write(b"fg")
(writer.num_bytes_buffered, buf.to_pybytes())
# A new size flushes, and 0 ends the buffering.
writer.write(b"h")
writer.buffer_size = 8
writer.buffer_size, writer.num_bytes_buffered, buf.to_pybytes(), writer.write(b"i")
writer.buffer_size = 0
writer.buffer_size, buf.to_pybytes(), writer.write(b"j"), buf.to_pybytes()
writer.num_bytes_buffered = 1
with cuda.BufferWriter(buf) as writer:
    writer.buffer_size = 4
    writer.write(b"ab"), writer.write(b"cde"), writer.num_bytes_buffered
    writer.write(b"f"), writer.write(b"ghij"), writer.seek(0), writer.write(b"A")
    writer.write(buf.context.buffer_from_data(b"BC"))
buf.to_pybytes()

# A write that is larger than the host buffer goes to the device as a whole.
ctx = cuda.Context()
size = 1 << 20
buf = ctx.new_buffer(size)
data = bytes(range(256)) * (size // 256)


def is_written(buffer_size):
    buf.copy_from_host(bytes(size))
    with cuda.BufferWriter(buf) as writer:
        writer.buffer_size = buffer_size
        for start in range(0, size, 70_000):
            writer.write(data[start : start + 70_000])
    return buf.to_pybytes() == data


[is_written(buffer_size) for buffer_size in (0, 100, 4096, 2 * size)]

# Writing at a position moves there, and goes on behind what was written.
buf = cuda.Context().buffer_from_data(b"..........")
writer = cuda.BufferWriter(buf)
writer.writeat(4, b"xyz")
writer.tell(), buf.to_pybytes(), writer.write(b"!"), buf.to_pybytes()
writer.writeat(position=0, data=np.frombuffer(b"AB", np.uint8))
(writer.tell(), buf.to_pybytes())
writer.writeat(9, b"9")
buf.to_pybytes()
writer.writeat(10, b"x")
writer.writeat(-1, b"x")
buf.to_pybytes()
