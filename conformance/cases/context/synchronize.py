# Synchronizing waits for the work of every stream.
# shows: pyarrow_cuda
#   Context.synchronize: blocks until the work of every stream is complete; returns None
import ctypes
import re

from pyarrow import cuda

ctx = cuda.Context()
ctx.synchronize() is None
driver = ctypes.CDLL(re.search(r"/\S*libcuda(_sim)?\.so\S*", open("/proc/self/maps").read())[0])
driver.cuCtxSetCurrent(ctypes.c_void_p(ctx.handle))
stream = ctypes.c_void_p()
driver.cuStreamCreate(ctypes.byref(stream), 1)
size = 64 << 20
buf = ctx.new_buffer(size)
at, count = ctypes.c_uint64(buf.address), ctypes.c_size_t(size)
# The stream is busy for 200 ms, with a function of the C library, and then with 40 fills.
driver.cuLaunchHostFunc(stream, ctypes.CDLL(None).usleep, ctypes.c_void_p(200_000))
{driver.cuMemsetD8Async(at, ctypes.c_ubyte(value), count, stream) for value in range(40)}
ctx.synchronize()
# 0 from the driver: nothing is left to do.
driver.cuStreamQuery(stream)
buf.slice(size - 3).to_pybytes()
driver.cuStreamDestroy_v2(stream)
driver.cuCtxSetCurrent(None)
