# Two devices: contexts, counters and memory of their own, and copies between them.
# needs: two devices
# shows: pyarrow_cuda
#   Context: contexts of two devices have memory and counters of their own
#   Context: memory and handles of another device are refused
# shows: pyarrow_devices, Devices
#   pyarrow.Device.device_id: the number of the second device
# shows: integration, CUDA Contexts
#   Context: a context for another device
# shows: integration, CUDA Buffers
#   Context.device_number: 1 for the second
from pyarrow import cuda

first, second = cuda.Context(0), cuda.Context(1)
first.device_number, second.device_number, first.handle == second.handle, second.device
second.device == first.device
(second.device.device_id, second.memory_manager.device == second.device)
here = first.buffer_from_data(b"0123456789")
before = (first.bytes_allocated, second.bytes_allocated)
there = second.buffer_from_data(b"..........")
there.context.device_number, there.context.handle == second.handle
(first.bytes_allocated - before[0], second.bytes_allocated - before[1])
there.copy_from_device(here, position=2, nbytes=5), there.to_pybytes()
second.buffer_from_data(here, offset=5).to_pybytes()
first.buffer_from_data(there).context.device_number, there.slice(1).context.device_number
cuda.BufferReader(there).read_buffer(3).context.device_number

# Memory and handles of one device are not taken for another one's.
first, second = cuda.Context(0), cuda.Context(1)
here = first.buffer_from_data(b"0123456789")
second.foreign_buffer(here.address, 10)
cuda.Context(1, first.handle)
# An object that lies on the other device keeps its own context.
second.buffer_from_object(here).context.device_number, here.to_pybytes()
