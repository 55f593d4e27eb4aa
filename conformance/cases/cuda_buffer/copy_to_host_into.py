# A copy into a host buffer that is there already.
# shows: cuda_buffer, copy_to_host
#   CudaBuffer.copy_to_host(buf): a host buffer to copy into, until it is full
#   CudaBuffer.copy_to_host(buf): returns the host buffer: the given one, if any
#   CudaBuffer.copy_to_host: the context's `synchronize` waits for the work that affects the memory
import ctypes
import re
import threading

import pyarrow as pa
from pyarrow import cuda

from pyarrow_cuda_compat import Stream

ctx = cuda.Context(0)
buf = ctx.buffer_from_data(b"0123456789")
memory = bytearray(b"-" * 6)
out = pa.py_buffer(memory)


def into(*arguments, **options):
    """Whether the buffer that was given comes back, and what it holds then."""
    memory[:] = b"-" * 6
    return buf.copy_to_host(*arguments, **options) is out, bytes(memory)


# It is what comes back, and it is filled from its start until it is full.
into(buf=out), into(position=7, buf=out), into(position=2, nbytes=3, buf=out), into(1, 2, out)
# Nothing to copy, or nowhere to put it.
into(position=10, buf=out), into(nbytes=0, buf=out)
buf.copy_to_host(buf=pa.allocate_buffer(0)).size
# More than there is room for, or than there is: nothing is written.
buf.copy_to_host(nbytes=7, buf=out)
buf.copy_to_host(position=8, nbytes=3, buf=out)
buf.copy_to_host(position=11, buf=out)
memory
# Nor is memory that is read-only or lies on the device.
constant, other = bytes(bytearray(b"constant")), ctx.buffer_from_data(b"..........")
buf.copy_to_host(buf=pa.py_buffer(constant))
buf.copy_to_host(buf=other)
(constant, other.to_pybytes())
# A part of a buffer, an allocated one and a page-locked one.
view = memoryview(memory)[2:4]
buf.copy_to_host(buf=pa.py_buffer(view)).size, memory
buf.copy_to_host(buf=pa.allocate_buffer(10)).to_pybytes()
buf.copy_to_host(position=5, buf=cuda.new_host_buffer(5)).to_pybytes()
type(buf.copy_to_host(buf=cuda.new_host_buffer(5)))

# Copies wait for what was asked of the device before, and `synchronize` for all of it.
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
buf.copy_to_host(nbytes=4).to_pybytes(), buf.copy_to_host(position=size - 5).to_pybytes()
