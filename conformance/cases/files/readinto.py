# Reading into memory of one's own.
# shows: pyarrow_cuda
#   BufferReader.readinto: the number of bytes that were read
#   BufferReader.readinto(b): the host memory to fill
from pyarrow import cuda

ctx = cuda.Context()
reader = cuda.BufferReader(ctx.buffer_from_data(b"0123456789"))
target = bytearray(b"....")
reader.readinto(target)
(bytes(target), reader.tell())
reader.readinto(memoryview(target)[:2])
bytes(target)
reader.seek(8)
reader.readinto(b=target)
bytes(target)
reader.readinto(target)
reader.seek(2)
pinned = cuda.new_host_buffer(4)
reader.readinto(pinned)
pinned.to_pybytes()
