# Batches of every kind of column go to the device and come back.
# shows: pyarrow_cuda
#   serialize_record_batch(batch): columns of every type
#   read_record_batch: columns of every type come back equal
import datetime
import decimal

import pyarrow as pa
from pyarrow import cuda

ctx = cuda.Context()
host = pa.default_cpu_memory_manager()


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
is_same(pa.nulls(4))
is_same(pa.RunEndEncodedArray.from_arrays([2, 5], ["a", None]))
ids = pa.array([0, 1, 0], pa.int8())
is_same(pa.UnionArray.from_sparse(ids, [pa.array([1, 2, 3]), pa.array(["x", "y", "z"])]))
