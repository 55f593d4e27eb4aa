# A record batch is written to device memory: the bytes that it serializes to on the host.
# shows: pyarrow_cuda
#   serialize_record_batch: a CudaBuffer with the message, of the bytes that the batch serializes to
#     on the host
#   serialize_record_batch(batch): the record batch
#   serialize_record_batch(ctx): the context to allocate in
#   serialize_record_batch(batch): batches without rows or without columns
#   serialize_record_batch: large batches, and batches of many columns
#   serialize_record_batch(batch): columns of every type
#   read_record_batch: columns of every type come back equal
# shows: additions, Record batches
#   serialize_record_batch: writes batches on a device
import datetime
import decimal

import numpy as np
import pyarrow as pa
from pyarrow import cuda

ctx = cuda.Context()
batch = pa.record_batch({"x": [1, None, 3], "s": ["one", None, "three"]})
before = ctx.bytes_allocated
message = cuda.serialize_record_batch(batch, ctx)
type(message), message.is_cpu, message.context.handle == ctx.handle
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

# Batches of no rows, and of no columns.
host = pa.default_cpu_memory_manager()
batch = pa.record_batch({"x": [1, 2], "s": ["one", "two"]})
for part in (batch.slice(0, 0), batch.select([]), pa.record_batch([], names=[])):
    message = cuda.serialize_record_batch(batch=part, ctx=ctx)
    print(message.to_pybytes() == part.serialize().to_pybytes())
    back = cuda.read_record_batch(message, part.schema)
    print(back.num_rows, back.num_columns, back.copy_to(host).equals(part))


# A large batch, and one of many columns.
def is_same(batch):
    message = cuda.serialize_record_batch(batch, ctx)
    back = cuda.read_record_batch(message, batch.schema).copy_to(host)
    return message.to_pybytes() == batch.serialize().to_pybytes(), back.equals(batch)


numbers = np.arange(300_000)
words = pa.array(numbers).cast(pa.string())
is_same(pa.record_batch({"n": numbers, "half": numbers / 2, "s": words}))
is_same(pa.record_batch({f"column {index}": [index, None, 1] for index in range(1000)}))


# Batches of every kind of column go to the device and come back.
def is_same(array):
    batch = pa.record_batch([array], names=["column"])
    message = cuda.serialize_record_batch(batch=batch, ctx=ctx)
    if message.to_pybytes() != batch.serialize().to_pybytes():
        return "other bytes"
    back = cuda.read_record_batch(message, batch.schema).copy_to(host)
    back.validate(full=True)
    return back.equals(batch)


numbers = [1, None, 3]
kinds = (pa.int8(), pa.uint16(), pa.int32(), pa.uint64(), pa.float32(), pa.float64())
[is_same(pa.array(numbers, kind)) for kind in kinds]
words = ["", None, "a word of more than twelve bytes"]
[is_same(pa.array(words, kind)) for kind in (pa.string(), pa.large_string(), pa.string_view())]
[is_same(pa.array([b"a", None], kind)) for kind in (pa.binary(), pa.binary(1))]
is_same(pa.array([True, None, False] * 5))
is_same(pa.array([[1, 2], None, []], pa.list_(pa.int16())))
is_same(pa.array([[1, 2], None], pa.list_(pa.int16(), 2)))
is_same(pa.array([{"a": 1, "b": "x"}, None]))
is_same(pa.array([[("k", 1)], None], pa.map_(pa.string(), pa.int32())))
is_same(pa.array([decimal.Decimal("1.50"), None], pa.decimal128(8, 2)))
is_same(pa.array([datetime.datetime(2020, 2, 29, 12), None], pa.timestamp("us", tz="UTC")))
is_same(pa.nulls(4)), is_same(pa.RunEndEncodedArray.from_arrays([2, 5], ["a", None]))
ids = pa.array([0, 1, 0], pa.int8())
is_same(pa.UnionArray.from_sparse(ids, [pa.array([1, 2, 3]), pa.array(["x", "y", "z"])]))
