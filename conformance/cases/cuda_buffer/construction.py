# Buffers come from a context, from other buffers and from messages; not from the class itself.
# shows: cuda_buffer, from_buffer
#   CudaBuffer.from_buffer: a generic buffer becomes a device buffer again
#   CudaBuffer.from_buffer(buf): the buffer that holds a device buffer, or a part of one
#   CudaBuffer.from_buffer: returns a device buffer over the same memory
#   CudaBuffer.from_buffer: host buffers are refused
# shows: cuda_buffer, class
#   CudaBuffer: a subclass of Arrow's Buffer class
#   CudaBuffer: buffers come from a context's methods
#   Context.device_buffer: the method that the page names for making buffers; it does not exist
#     upstream either: use `new_buffer`
#   CudaBuffer: the constructor cannot be called, whatever it is given
import pyarrow as pa
from pyarrow import cuda

# A generic buffer that lies on a device becomes a device buffer again: the same memory.
ctx = cuda.Context(0)
buf = ctx.buffer_from_data(b"0123456789")
array = pa.Array.from_buffers(pa.uint8(), 10, [None, buf])
generic = array.buffers()[1]
type(generic)
converted = cuda.CudaBuffer.from_buffer(generic)
type(converted), converted.size, converted.address == buf.address, converted.is_mutable
converted.to_pybytes(), converted.copy_from_host(b"AB", position=8), buf.to_pybytes()
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

# The class itself makes none.
cuda.CudaBuffer()
cuda.CudaBuffer(pa.py_buffer(b"some bytes"), size=3)


class Own(cuda.CudaBuffer):
    pass


Own()
issubclass(cuda.CudaBuffer, pa.Buffer), hasattr(ctx, "device_buffer")
cuda.CudaBuffer.__module__, cuda.CudaBuffer.__qualname__
# Methods that make them.
new = ctx.new_buffer(16)
copied = ctx.buffer_from_data(b"0123456789abcdef")
viewed = ctx.foreign_buffer(copied.address, 16, base=copied)
taken = ctx.buffer_from_object(copied)
converted = cuda.CudaBuffer.from_buffer(pa.Buffer.slice(copied, 4))
message = cuda.serialize_record_batch(pa.record_batch({"x": [1]}), ctx)
read = cuda.BufferReader(copied).read_buffer(5)
for made in (new, copied, copied[1:3], copied.slice(2), viewed, taken, converted, message, read):
    print(type(made).__name__, made.is_cpu, made.context.device_number)
