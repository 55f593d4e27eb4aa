# A reader is a file over a device buffer.
import pyarrow as pa
from pyarrow import cuda

buf = cuda.Context().buffer_from_data(b"0123456789")
reader = cuda.BufferReader(buf)
type(reader)
isinstance(reader, pa.NativeFile)
(reader.mode, reader.readable(), reader.writable(), reader.seekable(), reader.closed)
(reader.size(), reader.tell())
cuda.BufferReader(obj=buf).size()
