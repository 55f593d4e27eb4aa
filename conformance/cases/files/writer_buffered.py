# With a host buffer writes are collected, and reach the device when it is full or flushed.
from pyarrow import cuda

buf = cuda.Context().buffer_from_data(b"..........")
writer = cuda.BufferWriter(buf)
writer.buffer_size = 4
(writer.buffer_size, writer.num_bytes_buffered)
writer.write(b"abc")
(writer.num_bytes_buffered, writer.tell(), buf.to_pybytes())
writer.flush()
(writer.num_bytes_buffered, writer.tell(), buf.to_pybytes())
# Full: everything goes out.
writer.write(b"de")
writer.num_bytes_buffered
writer.write(b"fg")
(writer.num_bytes_buffered, buf.to_pybytes())
# A new size flushes, and 0 ends the buffering.
writer.write(b"h")
writer.buffer_size = 8
(writer.buffer_size, writer.num_bytes_buffered, buf.to_pybytes())
writer.write(b"i")
writer.buffer_size = 0
(writer.buffer_size, buf.to_pybytes())
writer.write(b"j")
buf.to_pybytes()
writer.num_bytes_buffered = 1
