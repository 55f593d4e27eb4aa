# Reading copies bytes to the host and moves on.
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
