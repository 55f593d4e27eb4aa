# Copies from one device to the other, whole and in part.
# needs: two devices
# environment: CUDA_SIM_LATENCY=20000
# shows: cuda_buffer, copy_from_device
#   CudaBuffer.copy_from_device: copies from a buffer on another device
import ctypes
import re

from pyarrow import cuda

from pyarrow_cuda_compat import Stream

here, there = cuda.Context(0), cuda.Context(1)
source = there.buffer_from_data(b"0123456789")
buf = here.buffer_from_data(b"--------")
(buf.copy_from_device(source, position=2, nbytes=3), buf.to_pybytes())
(buf.copy_from_device(source, position=5), buf.to_pybytes())
buf.copy_from_device(source), buf.to_pybytes(), buf.context.device_number
part, letters = source.slice(4, 4), here.buffer_from_data(b"ABCDEF")
part.copy_from_device(letters, position=1), source.to_pybytes(), source.context.device_number
buf.copy_from_device(source, nbytes=11)
source.copy_from_device(buf, position=3, nbytes=8)
(source.to_pybytes(), buf.to_pybytes())
# Many bytes.
data = bytes(range(251)) * 40_000
large = there.buffer_from_data(data)
back = here.new_buffer(len(data))
back.copy_from_device(large), back.to_pybytes() == data, back.equals(large), large.equals(back)
# On a stream, the call waits for what both were made with, which a slow device may lack yet.
driver = ctypes.CDLL(re.search(r"/\S*libcuda(_sim)?\.so\S*", open("/proc/self/maps").read())[0])
for ctx, other in (here, there), (there, here):
    _ = driver.cuCtxSetCurrent(ctypes.c_void_p(ctx.handle))
    stream, data = Stream(other, non_blocking=True), other.buffer_from_data(b"new")
    other.synchronize()
    made = ctx.buffer_from_data(b"older")
    _ = made.copy_from_device(data, stream=stream)
    print(driver.cuStreamQuery(None), stream.synchronize(), made.to_pybytes())
    made = ctx.buffer_from_data(b"newer")
    _ = data.copy_from_device(made, nbytes=3, stream=stream)
    print(driver.cuStreamQuery(None), stream.synchronize(), data.to_pybytes())
