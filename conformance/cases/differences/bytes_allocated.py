# Every context object of a device tells the same number of allocated bytes.
import pyarrow as pa
from pyarrow import cuda

first, second = cuda.Context(0), cuda.Context(0)
before = first.bytes_allocated
buf = first.new_buffer(1000)
(first.bytes_allocated - before, second.bytes_allocated - before)
cuda.Context().bytes_allocated - before
buf.context.bytes_allocated - before
# What Arrow allocates on the device counts too.
array = pa.array([1, 2, 3]).copy_to(second.memory_manager)
first.bytes_allocated - before
del buf, array
second.bytes_allocated - before
