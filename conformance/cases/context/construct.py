# A context of a device: the first device by default, its primary context always the same one.
# shows: pyarrow_cuda
#   Context: a context of a device: its primary context, the same for every object
#   Context(device_number): the number of the device; 0 by default
#   Context.device_number: the number of the context's device
from pyarrow import cuda

ctx = cuda.Context()
type(ctx)
ctx.device_number
ctx.handle > 0
cuda.Context(0).device_number
cuda.Context(0).handle == ctx.handle
cuda.Context(device_number=0).handle == ctx.handle
cuda.Context(0, 0).handle == ctx.handle
cuda.Context(device_number=0, handle=0).handle == ctx.handle
# Each call makes an object; what one allocates, every other one can use.
other = cuda.Context(0)
other is ctx
buf = ctx.buffer_from_data(b"shared")
other.foreign_buffer(buf.address, buf.size, base=buf).to_pybytes()
