# Seeking reaches every position from the start to the end, and none beyond.
# shows: pyarrow_cuda
#   BufferReader.seek: the new position; outside the buffer an OSError that changes nothing
#   BufferReader.seek(position): the position in bytes, up to the end inclusive
#   BufferReader.seek(whence): 0, the default, to count from the start, 1 from the position, 2 from
#     the end
#   BufferReader.seek: other ways to count are a ValueError
from pyarrow import cuda

reader = cuda.BufferReader(cuda.Context().buffer_from_data(b"0123456789"))
reader.seek(4)
(reader.tell(), reader.read(1))
reader.seek(position=2, whence=0)
reader.seek(3, 1)
reader.seek(-1, 1)
reader.tell()
reader.seek(-2, 2)
reader.read()
reader.seek(0, 2)
reader.seek(10)
reader.tell()
reader.seek(7)
reader.seek(11)
reader.seek(-1)
reader.seek(4, 1)
reader.seek(1, 2)
reader.tell()
# Other ways to count are no ways.
reader.seek(4)
reader.seek(2, 3)
reader.seek(2, whence=-1)
reader.tell()
