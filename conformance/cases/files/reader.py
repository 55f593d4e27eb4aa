# A reader is a file over a device buffer.
# shows: pyarrow_cuda
#   BufferReader: a file to read over a device buffer: a pyarrow.NativeFile
#   BufferReader(obj): the device buffer
#   BufferReader.size: the size of the buffer in bytes
#   BufferReader.mode: rb
#   BufferReader.readable: True
#   BufferReader.writable: False
#   BufferReader.seekable: True
#   BufferReader.seek: the new position; outside the buffer an OSError that changes nothing
#   BufferReader.seek(position): the position in bytes, up to the end inclusive
#   BufferReader.seek(whence): 0, the default, to count from the start, 1 from the position, 2 from
#     the end
#   BufferReader.seek: other ways to count are a ValueError
#   BufferReader.flush: does nothing
#   BufferReader.isatty: False
#   BufferReader.fileno: not supported
#   BufferReader.readline: not supported
#   BufferReader.readlines: not supported
#   BufferReader.truncate: not supported
#   BufferReader.upload: for writable files only
#   BufferReader.write: for writable files only
#   BufferReader.writelines: for writable files only
#   BufferReader: a context manager, which closes the file
#   BufferReader.close: afterwards everything except closing again is refused
#   BufferReader.closed: whether the file is closed
#   BufferReader: an empty buffer can be read
import io

import pyarrow as pa
from pyarrow import cuda

buf = cuda.Context().buffer_from_data(b"0123456789")
reader = cuda.BufferReader(buf)
type(reader), isinstance(reader, pa.NativeFile)
(reader.mode, reader.readable(), reader.writable(), reader.seekable(), reader.closed)
reader.size(), reader.tell(), cuda.BufferReader(obj=buf).size()

# Seeking reaches every position from the start to the end, and none beyond.
reader = cuda.BufferReader(cuda.Context().buffer_from_data(b"0123456789"))
reader.seek(4), reader.tell(), reader.read(1), reader.seek(position=2, whence=0)
reader.seek(3, 1), reader.seek(-1, 1), reader.tell(), reader.seek(-2, 2), reader.read()
reader.seek(0, 2), reader.seek(10), reader.tell(), reader.seek(7)
reader.seek(11)
reader.seek(-1)
reader.seek(4, 1)
reader.seek(1, 2)
reader.tell()
# Other ways to count are no ways.
reader.seek(4)
reader.seek(2, 3)
reader.tell()

# A reader refuses operations that it cannot do, and its buffer stays as it is.
buf = cuda.Context().buffer_from_data(b"0123456789")
reader = cuda.BufferReader(buf)
reader.write(b"x")
reader.writelines([b"x"])
reader.upload(io.BytesIO(b"x"))
reader.truncate()
reader.readline()
reader.readlines()
reader.fileno()
reader.isatty()
reader.flush()
(reader.tell(), buf.to_pybytes())

# A closed reader refuses everything but being closed again.
buf = cuda.Context().buffer_from_data(b"0123456789")
with cuda.BufferReader(buf) as reader:
    print(reader.closed, reader.read(4))
reader.closed
reader.read(1)
reader.read_buffer(1)
reader.seek(0)
reader.tell()
reader.close()
buf.to_pybytes()

# A reader of no bytes.
reader = cuda.BufferReader(cuda.Context().new_buffer(0))
reader.size(), reader.tell(), reader.seek(0), reader.read(), reader.read(5), reader.read_at(5, 0)
(reader.read_buffer().size, reader.read_buffer(9).size)
reader.seek(1)
