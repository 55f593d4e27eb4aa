# Reading copies bytes to the host and moves on.
# shows: pyarrow_cuda
#   BufferReader.read: the next bytes, copied to the host
#   BufferReader.read(nbytes): how many bytes; by default all that remain, and never more
#   BufferReader.read1: the next bytes, copied to the host
#   BufferReader.readall: all bytes that remain
#   BufferReader.tell: the position in bytes
#   BufferReader.read_at: bytes at a position; the file's own position stays
#   BufferReader.read_at(nbytes): how many bytes, at most those that remain
#   BufferReader.read_at(offset): the position, in bytes
#   BufferReader.read_at: a negative position raises an ArrowInvalid
#   BufferReader.readinto: the number of bytes that were read
#   BufferReader.readinto(b): the host memory to fill
#   BufferReader.read_buffer: the next bytes as a CudaBuffer over the same memory, not copied
#   BufferReader.read_buffer(nbytes): how many bytes; by default all that remain, and never more
from pyarrow import cuda

buf = cuda.Context().buffer_from_data(b"0123456789")
reader = cuda.BufferReader(buf)
reader.read(3), reader.tell(), reader.read(nbytes=2), reader.read(), reader.read()
reader.read(5), reader.seek(8), reader.read(100), reader.seek(0), reader.read(0)
reader.read(None), reader.seek(6), reader.read1(2), reader.readall()

# Reading at a position leaves the reader's own position alone.
reader = cuda.BufferReader(cuda.Context().buffer_from_data(b"0123456789"))
reader.seek(2), reader.read_at(nbytes=3, offset=4), reader.read_at(4, 8), reader.read_at(0, 5)
reader.read_at(5, 10), reader.tell(), reader.read(2)
reader.read_at(3, -1)
reader.tell()

# Reading into memory of one's own.
ctx = cuda.Context()
reader = cuda.BufferReader(ctx.buffer_from_data(b"0123456789"))
target = bytearray(b"....")
reader.readinto(target), bytes(target), reader.tell(), reader.readinto(memoryview(target)[:2])
bytes(target), reader.seek(8), reader.readinto(b=target), bytes(target), reader.readinto(target)
reader.seek(2)
pinned = cuda.new_host_buffer(4)
reader.readinto(pinned), pinned.to_pybytes()

# Reading a buffer gives a slice of the device memory: nothing is copied.
buf = cuda.Context().buffer_from_data(b"0123456789")
reader = cuda.BufferReader(buf)
part = reader.read_buffer(4)
type(part), part.address == buf.address, part.size, part.is_cpu, part.is_mutable
(part.to_pybytes(), reader.tell())
second = reader.read_buffer(nbytes=2)
(second.address - buf.address, second.to_pybytes())
rest = reader.read_buffer()
rest.address - buf.address, rest.to_pybytes(), reader.tell(), reader.read_buffer().size
reader.read_buffer(5).size
# All that is left, where more is asked for.
reader.seek(7), reader.read_buffer(100).to_pybytes(), reader.seek(9)
reader.read_buffer(None).to_pybytes(), reader.seek(3), reader.read_buffer(0).size
# The slices are the buffer's memory, and keep it.
part.copy_from_host(b"XY"), buf.slice(0, 4).to_pybytes()
reader.close()
del buf, reader
part.to_pybytes()
