# A reader of no bytes.
# shows: pyarrow_cuda
#   BufferReader: an empty buffer can be read
from pyarrow import cuda

reader = cuda.BufferReader(cuda.Context().new_buffer(0))
(reader.size(), reader.tell(), reader.seek(0))
(reader.read(), reader.read(5), reader.read_at(5, 0))
(reader.read_buffer().size, reader.read_buffer(9).size)
reader.seek(1)
