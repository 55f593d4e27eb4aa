# A closed reader refuses everything but being closed again.
# shows: pyarrow_cuda
#   BufferReader: a context manager, which closes the file
#   BufferReader.close: afterwards everything except closing again is refused
#   BufferReader.closed: whether the file is closed
from pyarrow import cuda

buf = cuda.Context().buffer_from_data(b"0123456789")
with cuda.BufferReader(buf) as reader:
    print(reader.closed, reader.read(4))
reader.closed
reader.read(1)
reader.read_buffer(1)
reader.read_at(1, 0)
reader.seek(0)
reader.tell()
reader.size()
reader.close()
buf.to_pybytes()
