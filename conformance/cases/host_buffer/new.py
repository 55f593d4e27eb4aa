# Page-locked host memory: of the size that was asked for, and the CPU's as well.
# shows: pyarrow_cuda
#   HostBuffer: pinned host memory, which is a pyarrow.Buffer
#   HostBuffer: the constructor is refused, and names the function to use
#   HostBuffer.size: the size in bytes
#   HostBuffer.is_cpu: True: the CPU reads and writes it
#   HostBuffer.is_mutable: True
#   new_host_buffer: a mutable HostBuffer of new pinned memory
#   new_host_buffer(size): the size in bytes
#   new_host_buffer(device): the device whose context allocates; 0 by default
#   HostBuffer.device: the CPU
#   HostBuffer.device_type: CUDA_HOST, a kind of its own
#   HostBuffer.memory_manager: the CPU's memory manager
#   HostBuffer.hex: the content as hexadecimal digits, in bytes
#   HostBuffer.to_pybytes: a copy of the content as bytes
#   HostBuffer: NumPy and Arrow read and write the memory in place
#   HostBuffer.address: the host's address of the memory, as an int
#   new_host_buffer(size): a size of 0 is possible
#   HostBuffer: the memory is released with the last buffer over it
#   new_host_buffer(device): an unknown device number raises an ArrowInvalid that names the valid
#     range
import pickle

import numpy as np
import pyarrow as pa
from pyarrow import cuda

buf = cuda.new_host_buffer(1000)
type(buf)
buf, isinstance(buf, pa.Buffer)
buf.size, len(buf), buf.is_cpu, buf.is_mutable, buf.parent, buf.address, buf.address % 64
cuda.new_host_buffer(size=10, device=0).size
cuda.new_host_buffer(10, 0).device_type == buf.device_type
# It costs no device memory.
ctx = cuda.Context()
before = ctx.bytes_allocated
more = cuda.new_host_buffer(1 << 20)
ctx.bytes_allocated - before
# The constructor is refused.
cuda.HostBuffer()
issubclass(cuda.HostBuffer, cuda.CudaBuffer)

# Page-locked memory is the CPU's memory, of a kind of its own.
buf = cuda.new_host_buffer(16)
buf.device_type == pa.DeviceAllocationType.CUDA_HOST
buf.device_type == pa.py_buffer(b"pageable").device_type, buf.device
buf.device == pa.default_cpu_memory_manager().device, buf.memory_manager
buf.memory_manager.is_cpu
array = pa.Array.from_buffers(pa.int64(), 2, [None, buf])
(array.is_cpu, array.device_type == pa.DeviceAllocationType.CUDA_HOST)

# The content of page-locked memory, as Python bytes and as hexadecimal digits.
buf = cuda.new_host_buffer(4)
pa.BufferReader(b"\x00\x7f\xffz").readinto(buf), buf.to_pybytes(), buf.hex(), bytes(buf)
pa.py_buffer(buf).to_pybytes()
# Its content can be pickled, like that of any host buffer.
pickle.loads(pickle.dumps(buf)).to_pybytes()

# NumPy writes and reads page-locked memory in place.
buf = cuda.new_host_buffer(16)
values = np.frombuffer(buf, dtype=np.int32)
(values.size, values.flags.writeable)
values[:] = [1, 2, 3, 4]
buf.to_pybytes(), values.ctypes.data == buf.address
memoryview(buf)[4] = 9
values.tolist()
# Arrow's arrays lie in it, too.
array = pa.Array.from_buffers(pa.int32(), 4, [None, buf])
array.copy_to(pa.default_cpu_memory_manager()).to_pylist()
# The view keeps the memory.
del buf, array
values.tolist()

# Page-locked memory of no bytes.
empty = cuda.new_host_buffer(size=0)
(type(empty), empty.size, empty.is_cpu, empty.to_pybytes())
np.frombuffer(memoryview(empty), np.uint8).size, ctx.buffer_from_data(empty).size
ctx.new_buffer(0).copy_to_host(buf=empty).size, ctx.new_buffer(4).copy_from_host(empty)
empty.slice().size

# Page-locked memory is released with the last buffer over it.
buf = cuda.new_host_buffer(1 << 20)
address = buf.address
part = buf.slice(100, 50)
del buf
ctx.get_device_address(address) == address, len(part.to_pybytes()), part.address - address
del part
ctx.get_device_address(address)

# Device numbers that no device has are refused.
last = cuda.Context.get_num_devices() - 1


def said(number):
    try:
        cuda.new_host_buffer(4, device=number)
    except pa.ArrowInvalid as error:
        text = str(error).replace(f"and {last},", "and <last>,")
        return text.replace(f"number {last + 1} ", "number <last + 1> ")


said(last + 1)
said(-1), cuda.new_host_buffer(4, device=last).size, isinstance(pa.ArrowInvalid("x"), ValueError)
for wrong in ("4", None, 1.5):
    try:
        cuda.new_host_buffer(wrong)
    except TypeError:
        print("TypeError")
