# A table goes to another process, batch by batch: a handle and a schema for each.
# shows: programs, Record batches
#   IpcMemHandle: another process makes one table of the batches that the handles name
import pickle
import subprocess
import sys

import pyarrow as pa
from pyarrow import cuda

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
