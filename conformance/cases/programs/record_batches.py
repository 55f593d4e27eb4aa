# A query's result: codes of words on the device; the schema and the words in mapped host memory.
# shows: programs, Record batches
#   read_record_batch: the schema came another way; where it had dictionaries, it has their codes
#   IpcMemHandle: another process makes one table of the batches that the handles name
#   CudaBuffer.slice: a column of a batch is the part of the message where its address says
import pickle
import subprocess
import sys
import tempfile

import numpy as np
import pyarrow as pa
from pyarrow import cuda

program = """
import sys
import pyarrow as pa
from pyarrow._cuda import Context, IpcMemHandle
buf = Context().open_ipc_buffer(IpcMemHandle.from_buffer(pa.py_buffer(bytes.fromhex(sys.argv[1]))))
buf.context.synchronize()
source = pa.memory_map(sys.argv[2])
schema = pa.ipc.read_schema(source)
words = pa.ipc.open_stream(source).read_next_batch().column(0)
for i, field in enumerate(schema):
    if pa.types.is_dictionary(field.type):
        schema = schema.set(i, field.with_type(field.type.index_type))
table = pa.Table.from_batches([pa._cuda.read_record_batch(buf, schema)])
print(table.schema.types, [column.chunk(0).is_cpu for column in table.columns])
back = table.copy_to(pa.default_cpu_memory_manager())
print(back["count"].to_pylist())
print(pa.DictionaryArray.from_arrays(back["city"].chunk(0), words).to_pylist())
"""
schema = pa.schema([("count", pa.int64()), ("city", pa.dictionary(pa.int32(), pa.string()))])
codes = pa.record_batch({"count": [5, 6, 7], "city": pa.array([1, None, 0], pa.int32())})
message = cuda.serialize_record_batch(codes, cuda.Context())
handle = message.export_for_ipc().serialize().to_pybytes()
with tempfile.NamedTemporaryFile() as file:
    _ = file.write(schema.serialize())
    with pa.ipc.new_stream(file, pa.schema([("city", pa.string())])) as stream:
        stream.write_batch(pa.record_batch({"city": ["Bern", "Oslo"]}))
    file.flush()
    command = [sys.executable, "-P", "-c", program, handle.hex(), file.name]
    print(subprocess.run(command, capture_output=True, text=True, check=True).stdout)

# A table goes to another process, batch by batch: a handle and a schema for each.
program = """
import pickle, sys
import pyarrow as pa
from pyarrow import cuda
ctx, batches = cuda.Context(), []
for opaque, schema in pickle.loads(bytes.fromhex(sys.argv[1])):
    message = ctx.open_ipc_buffer(cuda.IpcMemHandle.from_buffer(pa.py_buffer(opaque)))
    batches.append(cuda.read_record_batch(message, pa.ipc.read_schema(schema)))
table = pa.Table.from_batches(batches)
print(table.is_cpu, [chunk.offset for chunk in table["word"].chunks], table.num_rows)
print(table.copy_to(pa.default_cpu_memory_manager()).to_pydict())
"""
ctx = cuda.Context()
table = pa.table({"number": [4, None, 6, 7], "word": ["a", "bc", None, "def"]})
batches = table.to_batches(max_chunksize=3)
messages = [cuda.serialize_record_batch(batch, ctx) for batch in batches]
handles = [message.export_for_ipc().serialize().to_pybytes() for message in messages]
sent = pickle.dumps([(handle, table.schema.serialize()) for handle in handles])
command = [sys.executable, "-P", "-c", program, sent.hex()]
print(subprocess.run(command, capture_output=True, text=True, check=True).stdout)

# Columns are found in a message by their addresses, and cut out of it as parts of one buffer.
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
