# Buffers come from a context, from other buffers and from messages; not from the class itself.
# shows: cuda_buffer, class
#   CudaBuffer: a subclass of Arrow's Buffer class
#   CudaBuffer: buffers come from a context's methods
#   Context.device_buffer: the method that the page names for making buffers; it does not exist
#     upstream either: use `new_buffer`
#   CudaBuffer: the constructor cannot be called, whatever it is given
import pyarrow as pa
from pyarrow import cuda

ctx = cuda.Context(0)
cuda.CudaBuffer()
cuda.CudaBuffer(b"some bytes")
cuda.CudaBuffer(pa.py_buffer(b"some bytes"), size=3)


class Own(cuda.CudaBuffer):
    pass


Own()
issubclass(cuda.CudaBuffer, pa.Buffer)
hasattr(ctx, "device_buffer")
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
