# Reading a buffer gives a slice of the device memory: nothing is copied.
# shows: pyarrow_cuda
#   BufferReader.read_buffer: the next bytes as a CudaBuffer over the same memory, not copied
#   BufferReader.read_buffer(nbytes): how many bytes; by default all that remain, and never more
from pyarrow import cuda

buf = cuda.Context().buffer_from_data(b"0123456789")
reader = cuda.BufferReader(buf)
part = reader.read_buffer(4)
type(part)
(part.address == buf.address, part.size, part.is_cpu, part.is_mutable)
(part.to_pybytes(), reader.tell())
second = reader.read_buffer(nbytes=2)
(second.address - buf.address, second.to_pybytes())
rest = reader.read_buffer()
(rest.address - buf.address, rest.to_pybytes(), reader.tell())
reader.read_buffer().size
reader.read_buffer(5).size
# All that is left, where more is asked for.
reader.seek(7)
reader.read_buffer(100).to_pybytes()
reader.seek(9)
reader.read_buffer(None).to_pybytes()
reader.seek(3)
reader.read_buffer(0).size
# The slices are the buffer's memory, and keep it.
part.copy_from_host(b"XY")
buf.slice(0, 4).to_pybytes()
reader.close()
del buf, reader
part.to_pybytes()
