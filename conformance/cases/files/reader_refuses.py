# A reader refuses operations that it cannot do, and its buffer stays as it is.
# shows: pyarrow_cuda, BufferReader.flush
#   BufferReader.flush: does nothing
# shows: pyarrow_cuda, BufferReader.isatty
#   BufferReader.isatty: False
# shows: pyarrow_cuda, BufferReader.fileno
#   BufferReader.fileno: not supported
# shows: pyarrow_cuda, BufferReader.readline
#   BufferReader.readline: not supported
# shows: pyarrow_cuda, BufferReader.readlines
#   BufferReader.readlines: not supported
# shows: pyarrow_cuda, BufferReader.truncate
#   BufferReader.truncate: not supported
# shows: pyarrow_cuda, BufferReader.upload
#   BufferReader.upload: for writable files only
# shows: pyarrow_cuda, BufferReader.write
#   BufferReader.write: for writable files only
# shows: pyarrow_cuda, BufferReader.writelines
#   BufferReader.writelines: for writable files only
import io

from pyarrow import cuda

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
