# Reading at a position leaves the reader's own position alone.
from pyarrow import cuda

reader = cuda.BufferReader(cuda.Context().buffer_from_data(b"0123456789"))
reader.seek(2)
reader.read_at(nbytes=3, offset=4)
reader.read_at(4, 8)
reader.read_at(0, 5)
reader.read_at(5, 10)
reader.tell()
reader.read(2)
reader.read_at(3, -1)
reader.tell()
