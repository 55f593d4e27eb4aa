# Memory that other processes may have is never handed out again, nor with it what lay there before.
# shows: additions, Released memory
#   CudaBuffer.export_for_ipc: exported memory is never reused, and does not contain bytes of
#     earlier buffers
import ctypes
import re

from pyarrow import cuda

from pyarrow_cuda_compat import empty_cache, memory_stats, set_cache_limit

ctx = cuda.Context(0)
set_cache_limit(64 << 20, ctx)
driver = ctypes.CDLL(re.search(r"/\S*libcuda(_sim)?\.so\S*", open("/proc/self/maps").read())[0])
_ = driver.cuCtxSetCurrent(ctypes.c_void_p(ctx.handle))
secret = ctx.buffer_from_data(b"secret " * 300_000)
address = secret.address
del secret
buf = ctx.new_buffer(3 << 20)
buf.address == address
buf.copy_from_host(b"public")
# Other processes reach the whole block of 4 MiB: what lies behind the buffer is wiped.
handle = buf.export_for_ipc()
rest = (ctypes.c_char * (1 << 20))()
driver.cuMemcpyDtoH_v2(rest, ctypes.c_uint64(address + buf.size), ctypes.c_size_t(1 << 20))
rest.raw.count(0) == 1 << 20
del buf
stats = memory_stats(ctx)
(stats["cached_blocks"], stats["driver_frees"], stats["reserved_bytes"])
empty_cache(ctx)
