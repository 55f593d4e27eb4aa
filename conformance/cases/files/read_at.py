# Reading at a position leaves the reader's own position alone.
# shows: pyarrow_cuda
#   BufferReader.read_at: bytes at a position; the file's own position stays
#   BufferReader.read_at(nbytes): how many bytes, at most those that remain
#   BufferReader.read_at(offset): the position, in bytes
#   BufferReader.read_at: a negative position raises an ArrowInvalid
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
