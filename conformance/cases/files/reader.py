# A reader is a file over a device buffer.
# shows: pyarrow_cuda
#   BufferReader: a file to read over a device buffer: a pyarrow.NativeFile
#   BufferReader(obj): the device buffer
#   BufferReader.size: the size of the buffer in bytes
#   BufferReader.mode: rb
#   BufferReader.readable: True
#   BufferReader.writable: False
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
