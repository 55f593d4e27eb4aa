# A batch whose offsets lead outside its data is refused.
# shows: additions, Record batches
#   serialize_record_batch: batches with offsets outside their data are refused
import struct

import pyarrow as pa
from pyarrow import cuda

ctx = cuda.Context(0)
items = pa.array([1, 2, 3], pa.int8())
numbers = pa.py_buffer(struct.pack("<4i", 0, 10, 60, 3))
columns = {
    "text": pa.Array.from_buffers(pa.string(), 3, [None, numbers, pa.py_buffer(b"abc")]),
    "list": pa.Array.from_buffers(pa.list_(pa.int8()), 3, [None, numbers], children=[items]),
    "view": pa.ListViewArray.from_arrays(
        pa.array([0, 10, 0], pa.int32()), pa.array([1, 1, 1], pa.int32()), items
    ),
    "union": pa.UnionArray.from_dense(
        pa.array([0, 0, 0], pa.int8()), pa.array([0, 10, 2], pa.int32()), [items]
    ),
}
for name, column in columns.items():
    # pyarrow looks at the ends of a whole column; this is the part in between.
    batch = pa.record_batch({name: column}).slice(1, 1)
    try:
        cuda.serialize_record_batch(batch, ctx)
    except pa.ArrowInvalid as error:
        print(name, error)

# Right next to it all is well.
batch = pa.record_batch({"text": ["a", "bc", None], "list": [[1], None, [2, 3]]}).slice(1, 2)
cuda.serialize_record_batch(batch, ctx).equals(batch.serialize())
