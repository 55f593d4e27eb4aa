# A query's result: codes of words on the device; the schema and the words in mapped host memory.
# shows: programs, Record batches
#   read_record_batch: the schema came another way; where it had dictionaries, it has their codes
import subprocess
import sys
import tempfile

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
