# A context for each of two devices: each has its own memory, and its buffers say whose they are.
# needs: two devices
# shows: integration, CUDA Contexts
#   Context: a context for another device
# shows: integration, CUDA Buffers
#   Context.device_number: 1 for the second
import pyarrow as pa
from pyarrow import cuda

first, second = cuda.Context(0), cuda.Context(1)
(first.device_number, second.device_number)
first.handle == second.handle
first.device == second.device
here = first.buffer_from_data(b"first")
there = second.buffer_from_data(b"the second")
(here.context.device_number, there.context.device_number)
(here.device == first.device, there.device == second.device)
there.slice(4).context.device_number
(first.bytes_allocated, second.bytes_allocated)
there.copy_to_host().to_pybytes()
cuda.CudaBuffer.from_buffer(pa.Buffer.slice(there, 4, 3)).context.device_number

# From one device to the other.
moved = first.buffer_from_data(there)
(moved.context.device_number, moved.to_pybytes())
(first.bytes_allocated, second.bytes_allocated)
