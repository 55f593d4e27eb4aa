# A batch that lies on a device is written like any other.
# shows: additions, Record batches
#   serialize_record_batch: writes batches on a device
import pyarrow as pa
from pyarrow import cuda

ctx = cuda.Context()
batch = pa.record_batch({"x": [1, None, 3], "s": ["one", None, "three"]})
expected = batch.serialize().to_pybytes()
message = cuda.serialize_record_batch(batch.copy_to(ctx.memory_manager), ctx)
message.to_pybytes() == expected
again = cuda.serialize_record_batch(cuda.read_record_batch(message, batch.schema), ctx)
again.to_pybytes() == expected
