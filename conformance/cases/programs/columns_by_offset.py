# Columns are found in a message by their addresses, and cut out of it as parts of one buffer.
# shows: programs, Record batches
#   CudaBuffer.slice: a column of a batch is the part of the message where its address says
import numpy as np
import pyarrow as pa
from pyarrow import cuda

batch = pa.record_batch({"whole": [7, 8, 9], "part": pa.array([0.5, None, 2.5], pa.float32())})
message = cuda.serialize_record_batch(batch, cuda.Context())
columns = {}
for field, column in zip(batch.schema, cuda.read_record_batch(message, batch.schema), strict=True):
    valid, data = column.buffers()
    mask = valid and message.slice(valid.address - message.address, valid.size)
    size = len(column) * field.type.bit_width // 8
    columns[field.name] = mask, message.slice(data.address - message.address, size)

mask, data = columns["whole"]
(mask, np.frombuffer(data.copy_to_host(), np.int64).tolist())
mask, data = columns["part"]
(mask.to_pybytes()[0], np.frombuffer(data.copy_to_host(), np.float32)[[0, 2]].tolist())
# Bytes that are written into a column are in the message.
data.copy_from_host(np.array([9.5], np.float32), position=8)
there = cuda.read_record_batch(message, batch.schema)
there.copy_to(pa.default_cpu_memory_manager()).to_pydict()
