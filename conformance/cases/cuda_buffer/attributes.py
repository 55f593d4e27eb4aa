# What a buffer tells about itself: address, size, context, where it lies, whether it can change.
# shows: cuda_buffer, context
#   CudaBuffer.context: the CUDA driver context that the buffer lives in
# shows: cuda_buffer, inherited
#   CudaBuffer.device: the device that the buffer lies on
#   CudaBuffer.memory_manager: the memory manager of the buffer's device
#   CudaBuffer.device_type: the kind of memory that the buffer lies in
# shows: cuda_buffer, address
#   CudaBuffer.address: the buffer's address, as an integer
#   CudaBuffer.address: it may be a host buffer or a device buffer; `is_cpu` says which
# shows: cuda_buffer, size
#   CudaBuffer.size: the size in bytes
# shows: cuda_buffer, class
#   CudaBuffer: its data lies on a GPU
#   CudaBuffer: its repr: address, size, where it lies, whether it is mutable
# shows: cuda_buffer, is_cpu
#   CudaBuffer.is_cpu: whether the CPU can access the buffer
# shows: integration, CUDA Integration
#   CudaBuffer: Arrow's buffers may lie in a GPU's memory as well as in the host's
#   CudaBuffer.is_cpu: a buffer says where it lies
# shows: cuda_buffer, is_mutable
#   CudaBuffer.is_mutable: whether the buffer can be written to
import numpy as np
import pyarrow as pa
from pyarrow import cuda

# The context of a buffer is the one that it was made in, with which more can be made.
ctx = cuda.Context(0)
buf = ctx.buffer_from_data(b"0123456789")
type(buf.context), buf.context.device_number, buf.context.handle == ctx.handle
buf.context.bytes_allocated
buf.context.synchronize()
buf.context.buffer_from_data(b"more").to_pybytes()
[part.context.handle == ctx.handle for part in (buf[2:], buf.slice(9), ctx.new_buffer(0))]
cuda.CudaBuffer.from_buffer(pa.Buffer.slice(buf, 1)).context.handle == ctx.handle
(buf.device == ctx.device, buf.memory_manager.device == ctx.device)
# It serves on when neither the first context nor the buffer is there any more.
kept = buf.context
del ctx, buf
kept.bytes_allocated, kept.buffer_from_data(b"still here").to_pybytes()
kept.new_buffer(1).context = kept

# The address is a number, in device memory unless `is_cpu` is true, and slices count from it.
ctx = cuda.Context(0)
buf = ctx.buffer_from_data(b"0123456789")
type(buf.address), buf.address == buf.address, buf.address != 0, buf.is_cpu
ctx.get_device_address(buf.address) == buf.address
[buf.slice(offset).address - buf.address for offset in (0, 1, 9)], buf[3:5].address - buf.address
buf.slice(2).slice(3).address - buf.address, pa.Buffer.slice(buf, 4).address - buf.address
cuda.CudaBuffer.from_buffer(buf).address - buf.address
ctx.foreign_buffer(buf.address + 6, 2, base=buf).to_pybytes()
# Copies lie elsewhere; those on the host have an address of the host's.
ctx.buffer_from_data(buf).address == buf.address
host = buf.copy_to_host()
host.address == buf.address, host.is_cpu, ctx.new_buffer(0).address
buf.address = 1

# The size is in bytes, whatever the items of the source were.
[ctx.new_buffer(size).size for size in (0, 1, 511, 512, 513, 1 << 20, (1 << 20) + 1)]
ctx.buffer_from_data(np.zeros(5, dtype=np.float64)).size
ctx.buffer_from_data(pa.array([1, 2, 3], pa.int16()).buffers()[1].slice(0, 6)).size
buf = ctx.new_buffer(10)
(buf.size, len(buf), type(buf.size))
(buf.slice(3).size, buf.slice(3, 4).size, buf[-2:].size, buf.slice(0, 0).size)
cuda.CudaBuffer.from_buffer(pa.Buffer.slice(buf, 7)).size
ctx.foreign_buffer(buf.address, 6, base=buf).size
(buf.copy_to_host().size, len(buf.to_pybytes()), len(buf.hex()))
buf.size = 3

# The CPU cannot read device memory: `is_cpu` is false for each kind of buffer.
buf = ctx.buffer_from_data(b"0123456789")
buf.is_cpu, buf.device_type
[part.is_cpu for part in (buf.slice(2), buf[1:4], buf.slice(0, 0), ctx.new_buffer(0))]
generic = pa.Buffer.slice(buf, 2)
(generic.is_cpu, generic.device_type, generic.device == ctx.device)
generic.to_pybytes()
(buf.slice(2).parent.is_cpu, buf.slice(2).parent.device_type)
cuda.CudaBuffer.from_buffer(pa.Buffer.slice(buf, 2)).is_cpu
pa.Array.from_buffers(pa.uint8(), 10, [None, buf]).buffers()[1].is_cpu
# Arrow's arrays have such buffers on the host and on the device.
array = pa.array([1, None, 3], pa.int32())
[each.is_cpu for each in (*array.buffers(), *array.copy_to(ctx.memory_manager).buffers())]
buf.copy_to_host().is_cpu, cuda.new_host_buffer(4).is_cpu, cuda.new_host_buffer(4).device_type
(buf.device.is_cpu, buf.memory_manager.is_cpu)
buf.is_cpu = True

# Device buffers can be written to, unless they view what their owner calls read-only.
buf.is_mutable
[part.is_mutable for part in (ctx.new_buffer(3), ctx.new_buffer(0), buf.slice(2), buf[1:4])]
buf.slice(4, 2).copy_from_host(b"ab"), buf.to_pybytes()
ctx.foreign_buffer(buf.address, 10, base=buf).is_mutable
cuda.CudaBuffer.from_buffer(buf).is_mutable
# pyarrow's own slices are read-only, and what is made of them.
generic = pa.Buffer.slice(buf, 3)
generic.is_mutable
frozen = cuda.CudaBuffer.from_buffer(generic)
(frozen.is_mutable, frozen.slice(1).is_mutable, frozen[2:].is_mutable)
frozen.copy_from_host(b"x")
frozen.copy_from_device(buf.slice(0, 1))
cuda.BufferWriter(frozen)
# Reading goes on, and no byte has changed.
(frozen.to_pybytes(), buf.to_pybytes())
buf.is_mutable = False

# How a buffer shows itself.
buf = ctx.buffer_from_data(b"0123456789")
buf
buf.slice(3)
ctx.new_buffer(0)
cuda.CudaBuffer.from_buffer(pa.Buffer.slice(buf, 1)), str(buf) == repr(buf)
f"address={buf.address:#x} " in repr(buf)
[buf.slice(0, 1), buf.slice(0, 2)]
