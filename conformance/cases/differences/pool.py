# A memory pool for metadata is checked, and not needed.
import pyarrow as pa
from pyarrow import cuda

ctx = cuda.Context()
batch = pa.record_batch({"x": [1, None, 3]})
message = cuda.serialize_record_batch(batch, ctx)
pool = pa.proxy_memory_pool(pa.default_memory_pool())
read = cuda.read_message(message, pool=pool)
there = cuda.read_record_batch(message, batch.schema, pool=pool)
(read.type, there.num_rows, pool.bytes_allocated(), pool.max_memory())
cuda.read_message(message, pool="pool")
