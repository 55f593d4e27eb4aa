# A message is read with its own schema; another one is refused.
# shows: pyarrow_cuda
#   read_record_batch(schema): a schema that does not match the message is refused
import pyarrow as pa
from pyarrow import cuda

ctx = cuda.Context()
batch = pa.record_batch({"x": [1, None, 3], "s": ["one", None, "three"]})
message = cuda.serialize_record_batch(batch, ctx)


def refused(schema):
    try:
        cuda.read_record_batch(message, schema=schema)
    except (pa.ArrowInvalid, OSError):
        return True
    return False


refused(batch.schema)
refused(batch.schema.append(pa.field("more", pa.int8())))
refused(pa.schema([("x", pa.int64()), ("s", pa.list_(pa.string()))]))
refused(pa.schema([("x", pa.int64()), ("s", pa.large_string())]))
refused(pa.schema([("x", pa.decimal256(9)), ("s", pa.string())]))
# Names and metadata are the schema's that is given.
renamed = pa.schema([("a", pa.int64()), ("b", pa.string())], metadata={"key": "value"})
there = cuda.read_record_batch(message, renamed)
(there.schema.names, there.schema.metadata)
# A message of another kind is no batch.
cuda.read_message(ctx.buffer_from_data(batch.schema.serialize())).type
try:
    cuda.read_record_batch(ctx.buffer_from_data(batch.schema.serialize()), batch.schema)
except (pa.ArrowInvalid, OSError):
    "refused"
