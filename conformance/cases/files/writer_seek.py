# A writer's position counts from the start, or from where it stands.
# shows: pyarrow_cuda
#   BufferWriter.seek: the new position; flushes; outside the buffer an OSError
#   BufferWriter.seek(position): the position in bytes, below the size
#   BufferWriter.seek(whence): 0, the default, to count from the start, 1 from the position; others
#     are a ValueError
from pyarrow import cuda

buf = cuda.Context().buffer_from_data(b"..........")
writer = cuda.BufferWriter(buf)
writer.seek(6)
writer.write(b"x")
writer.seek(position=-3, whence=1)
writer.write(b"y")
writer.seek(0, 0)
writer.write(b"z")
buf.to_pybytes()
writer.seek(2, 1)
writer.tell()
writer.seek(9)
writer.seek(10)
writer.seek(-1)
writer.seek(1, 1)
writer.seek(0, 2)
writer.seek(0, whence=3)
writer.tell()
# Seeking brings what was buffered to the device.
writer.buffer_size = 8
writer.seek(1)
writer.write(b"ab")
writer.seek(5)
(writer.num_bytes_buffered, buf.to_pybytes())
