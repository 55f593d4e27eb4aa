# Batches of no rows, and of no columns.
# shows: pyarrow_cuda
#   serialize_record_batch(batch): batches without rows or without columns
import pyarrow as pa
from pyarrow import cuda

ctx = cuda.Context()
host = pa.default_cpu_memory_manager()
batch = pa.record_batch({"x": [1, 2], "s": ["one", "two"]})
for part in (batch.slice(0, 0), batch.select([]), pa.record_batch([], names=[])):
    message = cuda.serialize_record_batch(batch=part, ctx=ctx)
    print(message.to_pybytes() == part.serialize().to_pybytes())
    back = cuda.read_record_batch(message, part.schema)
    print(back.num_rows, back.num_columns, back.copy_to(host).equals(part))
