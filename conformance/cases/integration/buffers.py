# Contexts and buffers, as the documentation of the integration shows them.
# shows: integration, CUDA Contexts
#   Context: a context represents access to one device
#   Context: device 0, by position
#   Context(device_number): the device's number
# shows: integration, CUDA Buffers
#   Context.buffer_from_data: copies host data into a new buffer on the device
#   Context.buffer_from_data: a NumPy array
#   CudaBuffer: the type of the result
#   CudaBuffer.size: the size in bytes: that of the array
#   CudaBuffer.address: the address in device memory
#   CudaBuffer.context: the context that the buffer was made in
#   Context.device_number: 0 for the first device, through the buffer's context
#   CudaBuffer.copy_to_host: copies the device's data back to the host
#   CudaBuffer.copy_to_host: the result is an ordinary pyarrow buffer
#   numpy.frombuffer: NumPy reads the copy, and finds what was sent
import numpy as np
import pyarrow as pa
from pyarrow import cuda

# A context stands for one device, which it names by number.
ctx = cuda.Context(0)
type(ctx), ctx.device_number, cuda.Context(device_number=0).device_number
cuda.Context().device_number, cuda.Context.get_num_devices() >= 1
# Two contexts of a device share it.
cuda.Context(0).handle == ctx.handle
buf = ctx.new_buffer(1000)
cuda.Context(0).bytes_allocated
# It reaches the memory of its device.
ctx.device
ctx.memory_manager, ctx.device == buf.device
ctx.synchronize()


# Devices that are not there.
def refusal(number):
    try:
        return cuda.Context(number).device_number
    except ValueError as error:
        return str(error).replace(str(cuda.Context.get_num_devices()), "<devices>")


refusal(0), refusal(cuda.Context.get_num_devices())
refusal(-1)

# A NumPy array goes to the device: the type, size, address and device of the buffer.
arr = np.array([7, -1, 2**31 - 1, -(2**31), 5], dtype=np.int32)
arr.nbytes
cuda_buf = ctx.buffer_from_data(arr)
type(cuda_buf), isinstance(cuda_buf, pa.Buffer), cuda_buf.size, type(cuda_buf.address)
cuda_buf.address > 0, cuda_buf.context.device_number, cuda_buf.is_cpu
cuda_buf.to_pybytes() == arr.tobytes()
# It is a copy: neither side sees what happens to the other afterwards.
arr[0] = 8
np.frombuffer(cuda_buf.copy_to_host(), dtype=np.int32)
cuda_buf.copy_from_host(np.array([9], dtype=np.int32))
arr
np.frombuffer(cuda_buf.copy_to_host(), dtype=np.int32)
# Back on the host it is an ordinary buffer, which NumPy reads in place.
buf = cuda_buf.copy_to_host()
type(buf), buf.size, buf.is_cpu, buf.is_mutable
np.frombuffer(buf, dtype=np.int32).ctypes.data == buf.address
pa.Array.from_buffers(pa.int32(), 5, [None, buf]).to_pylist()
# Each buffer has memory of its own.
other = ctx.buffer_from_data(arr)
abs(other.address - cuda_buf.address) >= 20
