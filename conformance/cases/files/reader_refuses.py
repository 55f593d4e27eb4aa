# A reader refuses operations that it cannot do, and its buffer stays as it is.
# shows: pyarrow_cuda
#   BufferReader.flush: does nothing
#   BufferReader.isatty: False
#   BufferReader.fileno: not supported
#   BufferReader.readline: not supported
#   BufferReader.readlines: not supported
#   BufferReader.truncate: not supported
#   BufferReader.upload: for writable files only
#   BufferReader.write: for writable files only
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
