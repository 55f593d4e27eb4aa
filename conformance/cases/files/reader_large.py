# Much data is read piece by piece, and at once.
# shows: pyarrow_cuda
#   BufferReader: large data can be read at once and in pieces
from pyarrow import cuda

size = (4 << 20) + 3
data = bytes(range(251)) * (size // 251 + 1)
data = data[:size]
reader = cuda.BufferReader(cuda.Context().buffer_from_data(data))
reader.size() == size
reader.read() == data
reader.seek(0)
pieces = [piece for piece in iter(lambda: reader.read(300_007), b"")]
(len(pieces), b"".join(pieces) == data)
target = bytearray(size)
reader.seek(1)
(reader.readinto(target), target[:-1] == data[1:], target[-1])
reader.read_at(1 << 20, 3 << 20) == data[3 << 20 : 4 << 20]
reader.seek(size - 5)
reader.read_buffer().to_pybytes() == data[-5:]
