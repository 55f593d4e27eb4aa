# A writer refuses operations that it cannot do, and its buffer stays as it is.
# shows: pyarrow_cuda
#   BufferWriter.isatty: False
#   BufferWriter.fileno: not supported
#   BufferWriter.truncate: not supported
#   BufferWriter.readline: not supported
#   BufferWriter.readlines: not supported
#   BufferWriter.read: for readable files only
#   BufferWriter.read1: for readable files only
#   BufferWriter.readall: for readable files only
#   BufferWriter.readinto: for readable files only
#   BufferWriter.read_at: for readable files only
#   BufferWriter.read_buffer: for readable files only
#   BufferWriter.get_stream: for readable files only
#   BufferWriter.size: for readable files only
#   BufferWriter.metadata: for readable files only
#   BufferWriter.download: for readable files only
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
