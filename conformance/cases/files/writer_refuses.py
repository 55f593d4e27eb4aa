# What a writer cannot do is refused, and its buffer stays as it is.
import io

from pyarrow import cuda

buf = cuda.Context().buffer_from_data(b"0123456789")
writer = cuda.BufferWriter(buf)
writer.read(1)
writer.read1(1)
writer.readall()
writer.readinto(bytearray(1))
writer.read_at(1, 0)
writer.read_buffer(1)
writer.get_stream(0, 1)
writer.size()
writer.metadata()
writer.download(io.BytesIO())
writer.readline()
writer.readlines()
writer.truncate()
writer.fileno()
writer.isatty()
(writer.tell(), buf.to_pybytes())
