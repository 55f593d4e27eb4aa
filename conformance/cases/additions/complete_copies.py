# A copy is complete when the call returns, also for streams that wait for no other.
# shows: additions, Device buffers
#   CudaBuffer.copy_from_device: copies are complete when the call returns: streams that do not wait
#     for others see the bytes
#   CudaBuffer.copy_from_host: so are copies from the host
#   Context.buffer_from_data: a new buffer holds its data when the call returns
# shows: additions, Files
#   BufferWriter.write: written bytes are visible to every stream when the call returns
import ctypes
import re

from pyarrow import cuda

ctx = cuda.Context()
driver = ctypes.CDLL(re.search(r"/\S*libcuda(_sim)?\.so\S*", open("/proc/self/maps").read())[0])
driver.cuCtxSetCurrent(ctypes.c_void_p(ctx.handle))
# One stream that the default stream waits for, and one that is on its own.
busy, reader = ctypes.c_void_p(), ctypes.c_void_p()
driver.cuStreamCreate(ctypes.byref(busy), 0)
driver.cuStreamCreate(ctypes.byref(reader), 1)


def delay():
    """Keeps what comes next on the default stream waiting for 200 ms."""
    return driver.cuLaunchHostFunc(busy, ctypes.CDLL(None).usleep, ctypes.c_void_p(200_000))


def peek(buf):
    """What the second stream finds at once."""
    read = ctypes.create_string_buffer(buf.size)
    at, count = ctypes.c_uint64(buf.address), ctypes.c_size_t(buf.size)
    driver.cuMemcpyDtoHAsync_v2(read, at, count, reader)
    driver.cuStreamSynchronize(reader)
    return read.raw


target = ctx.buffer_from_data(b"..........")
source = ctx.buffer_from_data(b"0123456789")
delay()
target.copy_from_device(source)
peek(target)
delay()
target.copy_from_host(b"from host", position=1)
peek(target)
delay()
target.copy_from_device(target.slice(0, 6), position=2)
peek(target)
delay()
peek(ctx.buffer_from_data(source, offset=2, size=5))
delay()
peek(ctx.buffer_from_data(b"host data"))
delay()
cuda.BufferWriter(target).write(b"written")
peek(target)
