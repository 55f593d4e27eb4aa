# A writer refuses operations that it cannot do, and its buffer stays as it is.
# shows: pyarrow_cuda, BufferWriter.isatty
#   BufferWriter.isatty: False
# shows: pyarrow_cuda, BufferWriter.fileno
#   BufferWriter.fileno: not supported
# shows: pyarrow_cuda, BufferWriter.truncate
#   BufferWriter.truncate: not supported
# shows: pyarrow_cuda, BufferWriter.readline
#   BufferWriter.readline: not supported
# shows: pyarrow_cuda, BufferWriter.readlines
#   BufferWriter.readlines: not supported
# shows: pyarrow_cuda, BufferWriter.read
#   BufferWriter.read: for readable files only
# shows: pyarrow_cuda, BufferWriter.read1
#   BufferWriter.read1: for readable files only
# shows: pyarrow_cuda, BufferWriter.readall
#   BufferWriter.readall: for readable files only
# shows: pyarrow_cuda, BufferWriter.readinto
#   BufferWriter.readinto: for readable files only
# shows: pyarrow_cuda, BufferWriter.read_at
#   BufferWriter.read_at: for readable files only
# shows: pyarrow_cuda, BufferWriter.read_buffer
#   BufferWriter.read_buffer: for readable files only
# shows: pyarrow_cuda, BufferWriter.get_stream
#   BufferWriter.get_stream: for readable files only
# shows: pyarrow_cuda, BufferWriter.size
#   BufferWriter.size: for readable files only
# shows: pyarrow_cuda, BufferWriter.metadata
#   BufferWriter.metadata: for readable files only
# shows: pyarrow_cuda, BufferWriter.download
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
