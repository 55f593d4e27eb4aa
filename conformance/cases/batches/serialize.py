# A record batch is written to device memory: the bytes that it serializes to on the host.
# shows: pyarrow_cuda
#   serialize_record_batch: a CudaBuffer with the message, of the bytes that the batch serializes to
#     on the host
#   serialize_record_batch(batch): the record batch
#   serialize_record_batch(ctx): the context to allocate in
# shows: additions, Record batches
#   serialize_record_batch: writes batches on a device
import pyarrow as pa
from pyarrow import cuda

ctx = cuda.Context()
batch = pa.record_batch({"x": [1, None, 3], "s": ["one", None, "three"]})
before = ctx.bytes_allocated
message = cuda.serialize_record_batch(batch, ctx)
type(message)
(message.is_cpu, message.context.handle == ctx.handle)
message.to_pybytes() == batch.serialize().to_pybytes()
message.size == batch.serialize().size == ctx.bytes_allocated - before
cuda.serialize_record_batch(batch=batch, ctx=ctx).equals(message)
# A part of a batch is a message of that part.
part = cuda.serialize_record_batch(batch.slice(1, 2), ctx)
part.to_pybytes() == batch.slice(1, 2).serialize().to_pybytes()
cuda.read_record_batch(part, batch.schema).num_rows
# A batch that lies on the device is written like any other.
cuda.serialize_record_batch(batch.copy_to(ctx.memory_manager), ctx).equals(message)
cuda.serialize_record_batch(cuda.read_record_batch(message, batch.schema), ctx).equals(message)
