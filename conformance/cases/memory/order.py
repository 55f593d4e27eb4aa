# Memory is handed out again only when no work, on whatever stream, can touch it any more.
# shows: additions, Released memory
#   Context.new_buffer: but not while work in flight on any stream could touch it
import ctypes
import re

from pyarrow import cuda

from pyarrow_cuda_compat import memory_stats, set_allocator, set_cache_limit

ctx = cuda.Context(0)
set_cache_limit(64 << 20, ctx)
driver = ctypes.CDLL(re.search(r"/\S*libcuda(_sim)?\.so\S*", open("/proc/self/maps").read())[0])
_ = driver.cuCtxSetCurrent(ctypes.c_void_p(ctx.handle))
libc, semaphore = ctypes.CDLL(None), ctypes.create_string_buffer(64)
_ = libc.sem_init(semaphore, 0, 0)
# A stream that this package does not know, and that waits for no other.
stream = ctypes.c_void_p()
_ = driver.cuStreamCreate(ctypes.byref(stream), 1)
buf = ctx.new_buffer(4 << 20)
# It waits for the semaphore, and writes to the buffer then.
_ = driver.cuLaunchHostFunc(stream, libc.sem_wait, semaphore)
at, count = ctypes.c_uint64(buf.address), ctypes.c_size_t(buf.size)
_ = driver.cuMemsetD8Async(at, ctypes.c_ubyte(7), count, stream)
del buf
# The next buffer gets other memory, and is not overwritten.
before = memory_stats(ctx)
other = ctx.new_buffer(4 << 20)
other.fill(1)
now = memory_stats(ctx)
(now["cache_hits"] - before["cache_hits"], now["cached_blocks"])
_ = libc.sem_post(semaphore)
ctx.synchronize()
(other[0], other[-1])
# Now that it is over, the first one's memory is there again.
again = ctx.new_buffer(4 << 20)
now = memory_stats(ctx)
(now["cache_hits"] - before["cache_hits"], now["cached_blocks"])
again.address != other.address
# Memory that another library's allocator hands out again has no work under way either.
set_allocator((lambda nbytes: driver.cuLaunchHostFunc(None, libc.usleep, delay) or place, max))
delay, place = ctypes.c_void_p(200_000), again.address
_ = ctx.new_buffer(4)
(driver.cuStreamQuery(None), set_allocator(None))
