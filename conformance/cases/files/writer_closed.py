# Closing brings buffered bytes to the device; a closed writer refuses everything.
# shows: pyarrow_cuda
#   BufferWriter: a context manager, which closes the file
#   BufferWriter.close: flushes; afterwards everything except closing again is refused
#   BufferWriter.closed: whether the file is closed
from pyarrow import cuda

buf = cuda.Context().buffer_from_data(b"..........")
with cuda.BufferWriter(buf) as writer:
    writer.buffer_size = 100
    print(writer.write(b"kept"), buf.to_pybytes())
(writer.closed, buf.to_pybytes())
writer.write(b"x")
writer.writeat(0, b"x")
writer.flush()
writer.seek(0)
writer.tell()
writer.buffer_size = 4
writer.close()
buf.to_pybytes()
