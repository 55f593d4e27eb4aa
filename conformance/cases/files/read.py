# Reading copies bytes to the host and moves on.
# shows: pyarrow_cuda
#   BufferReader.read: the next bytes, copied to the host
#   BufferReader.read(nbytes): how many bytes; by default all that remain, and never more
#   BufferReader.read1: the next bytes, copied to the host
#   BufferReader.readall: all bytes that remain
#   BufferReader.tell: the position in bytes
from pyarrow import cuda

buf = cuda.Context().buffer_from_data(b"0123456789")
reader = cuda.BufferReader(buf)
reader.read(3)
reader.tell()
reader.read(nbytes=2)
reader.read()
reader.read()
reader.read(5)
reader.seek(8)
reader.read(100)
reader.seek(0)
reader.read(0)
reader.read(None)
reader.seek(6)
(reader.read1(2), reader.readall())
