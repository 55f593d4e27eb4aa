# A writer is a file over a device buffer; each write is there at once.
# shows: pyarrow_cuda
#   BufferWriter: a file to write over a device buffer: a pyarrow.NativeFile; unbuffered by default
#   BufferWriter(buffer): the device buffer
#   BufferWriter.write: the number of bytes written, at the position, which moves on
#   BufferWriter.mode: wb
#   BufferWriter.readable: False
#   BufferWriter.writable: True
#   BufferWriter.seekable: False, although seek works
#   BufferWriter.seek: the new position; flushes; outside the buffer an OSError
#   BufferWriter.seek(position): the position in bytes, below the size
#   BufferWriter.seek(whence): 0, the default, to count from the start, 1 from the position; others
#     are a ValueError
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
#   BufferWriter: a context manager, which closes the file
#   BufferWriter.close: flushes; afterwards everything except closing again is refused
#   BufferWriter.closed: whether the file is closed
import io

import numpy as np
import pyarrow as pa
from pyarrow import cuda

ctx = cuda.Context()
buf = ctx.buffer_from_data(b"..........")
writer = cuda.BufferWriter(buf)
type(writer), isinstance(writer, pa.NativeFile)
(writer.mode, writer.readable(), writer.writable(), writer.seekable(), writer.closed)
writer.tell(), writer.buffer_size, writer.num_bytes_buffered, writer.write(b"abc")
writer.tell(), buf.to_pybytes(), writer.write(bytearray(b"de"))
writer.write(np.array([102, 103], np.uint8)), writer.write(pa.py_buffer(b"hi"))
writer.write(b""), writer.tell(), buf.to_pybytes(), cuda.BufferWriter(buffer=buf).write(b"AB")
buf.to_pybytes()
writer.write("text")

# A writer's position counts from the start, or from where it stands.
buf = cuda.Context().buffer_from_data(b"..........")
writer = cuda.BufferWriter(buf)
writer.seek(6), writer.write(b"x"), writer.seek(position=-3, whence=1), writer.write(b"y")
writer.seek(0, 0), writer.write(b"z"), buf.to_pybytes(), writer.seek(2, 1), writer.tell()
writer.seek(9)
writer.seek(10)
writer.seek(-1)
writer.seek(1, 1)
writer.seek(0, 2)
writer.tell()
# Seeking brings what was buffered to the device.
writer.buffer_size = 8
writer.seek(1), writer.write(b"ab"), writer.seek(5), writer.num_bytes_buffered, buf.to_pybytes()

# A writer refuses operations that it cannot do, and its buffer stays as it is.
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
writer.isatty(), writer.tell(), buf.to_pybytes()

# Closing brings buffered bytes to the device; a closed writer refuses everything.
buf = cuda.Context().buffer_from_data(b"..........")
with cuda.BufferWriter(buf) as writer:
    writer.buffer_size = 100
    print(writer.write(b"kept"), buf.to_pybytes())
(writer.closed, buf.to_pybytes())
writer.write(b"x")
writer.writeat(0, b"x")
writer.flush()
writer.seek(0)
writer.tell()
writer.buffer_size = 4
writer.close()
buf.to_pybytes()
