# Copies wait for what was asked of the device before, and `synchronize` for all of it.
# shows: cuda_buffer, copy_to_host
#   CudaBuffer.copy_to_host: the context's `synchronize` waits for the work that affects the memory
import ctypes
import re
import threading

from pyarrow import cuda

from pyarrow_cuda_compat import Stream

ctx = cuda.Context(0)
driver = ctypes.CDLL(re.search(r"/\S*libcuda(_sim)?\.so\S*", open("/proc/self/maps").read())[0])
_ = driver.cuCtxSetCurrent(ctypes.c_void_p(ctx.handle))
libc, semaphore = ctypes.CDLL(None), ctypes.create_string_buffer(64)
_ = libc.sem_init(semaphore, 0, 0)
buf = ctx.buffer_from_data(b"....")


def fill_late(value, stream):
    """Queues work that begins 200 ms after this has returned."""
    _ = driver.cuLaunchHostFunc(ctypes.c_void_p(stream.handle), libc.sem_wait, semaphore)
    buf.fill(ord(value), stream=stream)
    print(stream.query())
    threading.Timer(0.2, libc.sem_post, [semaphore]).start()


# The copy waits for the stream that is ordered with it.
ordered = Stream(ctx, non_blocking=False)
fill_late("a", ordered)
buf.copy_to_host().to_pybytes()
# For one that is not, `synchronize` waits: afterwards nothing is left to do.
other = Stream(ctx, non_blocking=True)
fill_late("b", other)
print(buf.context.synchronize())
(other.query(), buf.copy_to_host().to_pybytes())

# Many copies in a row, there and back, a byte further each time: each finds what the last one left.
size = 1 << 22
buf = ctx.buffer_from_data(bytes(range(256)) * (size >> 8))
twin = ctx.new_buffer(size)
[(twin.copy_from_device(buf), buf.copy_from_device(twin.slice(1))) for _turn in range(3)]
buf.copy_to_host(nbytes=4).to_pybytes()
buf.copy_to_host(position=size - 5).to_pybytes()
