# A reader is a file over a device buffer.
# shows: pyarrow_cuda, BufferReader
#   BufferReader: a file to read over a device buffer: a pyarrow.NativeFile
#   BufferReader(obj): the device buffer
# shows: pyarrow_cuda, BufferReader.size
#   BufferReader.size: the size of the buffer in bytes
# shows: pyarrow_cuda, BufferReader.mode
#   BufferReader.mode: rb
# shows: pyarrow_cuda, BufferReader.readable
#   BufferReader.readable: True
# shows: pyarrow_cuda, BufferReader.writable
#   BufferReader.writable: False
# shows: pyarrow_cuda, BufferReader.seekable
#   BufferReader.seekable: True
import pyarrow as pa
from pyarrow import cuda

buf = cuda.Context().buffer_from_data(b"0123456789")
reader = cuda.BufferReader(buf)
type(reader)
isinstance(reader, pa.NativeFile)
(reader.mode, reader.readable(), reader.writable(), reader.seekable(), reader.closed)
(reader.size(), reader.tell())
cuda.BufferReader(obj=buf).size()
