# Device memory can lie in chunks that the driver maps where buffers need them.
# shows: additions, Released memory
#   set_expandable_segments: new memory lies in an expandable segment
#   set_expandable_segments(enabled): whether it does
from pyarrow import cuda

from pyarrow_cuda_compat import empty_cache, memory_stats, set_expandable_segments

ctx = cuda.Context(0)
MIB = 1 << 20

set_expandable_segments(enabled=True)
first, second, third = (ctx.new_buffer(size * MIB) for size in (4, 6, 4))
del first, third
memory_stats(ctx)["cached_bytes"] // MIB
# A larger buffer takes chunks of both, and two more MiB, which lie beside the second one.
buf = ctx.new_buffer(10 * MIB)
memory_stats(ctx)["reserved_bytes"] // MIB
buf.export_for_ipc()
set_expandable_segments(False)
copy = ctx.buffer_from_data(buf)
handle = copy.export_for_ipc()
del second, buf
empty_cache(ctx) // MIB
set_expandable_segments(1)
