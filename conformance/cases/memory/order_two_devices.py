# Nor is memory handed out again while work of another device, of any library, can touch it.
# needs: two devices
# shows: additions, Released memory
#   Context.new_buffer: work in flight on other devices counts, too
import ctypes
import re

from pyarrow import cuda

from pyarrow_cuda_compat import memory_stats, set_cache_limit

ctx = cuda.Context(0)
set_cache_limit(64 << 20, ctx)
driver = ctypes.CDLL(re.search(r"/\S*libcuda(_sim)?\.so\S*", open("/proc/self/maps").read())[0])
libc, semaphore = ctypes.CDLL(None), ctypes.create_string_buffer(64)
_ = libc.sem_init(semaphore, 0, 0)
# Nobody uses the second device, and no context is made there to ask what it is at work on.
large = ctx.new_buffer(20 << 20)
_ = large.address
del large
large = ctx.new_buffer(20 << 20)
flags, is_active = ctypes.c_uint(), ctypes.c_int()
_ = driver.cuDevicePrimaryCtxGetState(1, ctypes.byref(flags), ctypes.byref(is_active))
is_active.value
# Another library works there, and sends bytes to the first device when it may.
buf, size = ctx.new_buffer(4 << 20), ctypes.c_size_t(4 << 20)
theirs, stream, source = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_uint64()
_ = driver.cuDevicePrimaryCtxRetain(ctypes.byref(theirs), 1), driver.cuCtxSetCurrent(theirs)
_ = driver.cuStreamCreate(ctypes.byref(stream), 1)
_ = driver.cuMemAlloc_v2(ctypes.byref(source), size), driver.cuMemsetD8_v2(source, 7, size)
_ = driver.cuLaunchHostFunc(stream, libc.sem_wait, semaphore)
to, mine = ctypes.c_uint64(buf.address), ctypes.c_void_p(ctx.handle)
_ = driver.cuMemcpyPeerAsync(to, mine, source, theirs, size, stream)
del buf
# The next buffer gets other memory, and is not overwritten.
before = memory_stats(ctx)["cache_hits"]
other = ctx.new_buffer(size.value)
other.fill(1)
memory_stats(ctx)["cache_hits"] - before
_ = libc.sem_post(semaphore), driver.cuCtxSynchronize()
(other[0], other[-1])
# Now that it is over, the first one's memory is there again.
again = ctx.new_buffer(size.value)
(memory_stats(ctx)["cache_hits"] - before, again.address == to.value)
