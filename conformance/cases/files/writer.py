# A writer is a file over a device buffer; each write is there at once.
# shows: pyarrow_cuda
#   BufferWriter: a file to write over a device buffer: a pyarrow.NativeFile; unbuffered by default
#   BufferWriter(buffer): the device buffer
#   BufferWriter.write: the number of bytes written, at the position, which moves on
#   BufferWriter.mode: wb
#   BufferWriter.readable: False
#   BufferWriter.writable: True
#   BufferWriter.seekable: False, although seek works
import numpy as np
import pyarrow as pa
from pyarrow import cuda

ctx = cuda.Context()
buf = ctx.buffer_from_data(b"..........")
writer = cuda.BufferWriter(buf)
type(writer)
isinstance(writer, pa.NativeFile)
(writer.mode, writer.readable(), writer.writable(), writer.seekable(), writer.closed)
(writer.tell(), writer.buffer_size, writer.num_bytes_buffered)
writer.write(b"abc")
(writer.tell(), buf.to_pybytes())
writer.write(bytearray(b"de"))
writer.write(np.array([102, 103], np.uint8))
writer.write(pa.py_buffer(b"hi"))
writer.write(b"")
(writer.tell(), buf.to_pybytes())
cuda.BufferWriter(buffer=buf).write(b"AB")
buf.to_pybytes()
writer.write("text")
