# Streams have priorities, in the range that the driver tells.
# shows: additions, Streams
#   Stream(priority): which work is begun first
#   Stream.priority: its priority, within the range
#   Stream.priority_range: the least and the greatest priority
#   Stream.priority_range(context): the context, or a device's number; the first device's by default
from pyarrow import cuda

from pyarrow_cuda_compat import Stream

ctx = cuda.Context(0)
least, greatest = Stream.priority_range(context=ctx)
Stream.priority_range() == (least, greatest)
# Lower numbers come first.
(least, greatest <= least)
Stream(ctx).priority
Stream(ctx, priority=greatest).priority == greatest
Stream(ctx, non_blocking=True, priority=greatest).priority == greatest
# The driver takes the nearest for a number that is outside of it.
[Stream(ctx, priority=n).priority == greatest for n in (greatest - 10, -(1 << 40))]
Stream(ctx, priority=10).priority
Stream(ctx, priority="high")
