# A generic buffer that lies on a device becomes a device buffer again: the same memory.
# shows: cuda_buffer, from_buffer
#   CudaBuffer.from_buffer: a generic buffer becomes a device buffer again
#   CudaBuffer.from_buffer(buf): the buffer that holds a device buffer, or a part of one
#   CudaBuffer.from_buffer: returns a device buffer over the same memory
#   CudaBuffer.from_buffer: host buffers are refused
import pyarrow as pa
from pyarrow import cuda

ctx = cuda.Context(0)
buf = ctx.buffer_from_data(b"0123456789")
array = pa.Array.from_buffers(pa.uint8(), 10, [None, buf])
generic = array.buffers()[1]
type(generic)
converted = cuda.CudaBuffer.from_buffer(generic)
type(converted)
(converted.size, converted.address == buf.address, converted.is_mutable)
converted.to_pybytes()
converted.copy_from_host(b"AB", position=8)
buf.to_pybytes()
(converted.context.handle == ctx.handle, converted.context.device_number)

# Offsets and sizes of slices are kept, also of slices of slices.
part = cuda.CudaBuffer.from_buffer(generic.slice(3, 4))
(part.size, part.address - buf.address, part.to_pybytes())
inner = cuda.CudaBuffer.from_buffer(buf=generic.slice(3, 4).slice(1))
(inner.size, inner.address - buf.address, inner.to_pybytes())
cuda.CudaBuffer.from_buffer(buf.slice(2).parent).to_pybytes()

# A device buffer, and one that Arrow made.
again = cuda.CudaBuffer.from_buffer(buf)
(again is buf, again.address == buf.address, again.size)
made = pa.array([1, 2, 3], pa.int16()).copy_to(ctx.memory_manager).buffers()[1]
cuda.CudaBuffer.from_buffer(made).slice(0, 6).to_pybytes()

# It retains the memory.
del buf, array, generic, part, inner, again, made
(ctx.bytes_allocated, converted.to_pybytes())

# Buffers of the host, and what is no buffer.
cuda.CudaBuffer.from_buffer(pa.py_buffer(b"0123456789"))
cuda.CudaBuffer.from_buffer(cuda.new_host_buffer(10))
cuda.CudaBuffer.from_buffer(b"0123456789")
cuda.CudaBuffer.from_buffer(None)
cuda.CudaBuffer.from_buffer(pa.array([1]))
