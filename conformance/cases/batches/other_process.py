# Another process reads a record batch where it lies.
# shows: pyarrow_cuda
#   serialize_record_batch: another process reads the batch through the message's handle
import subprocess
import sys

import pyarrow as pa
from pyarrow import cuda

program = """
import sys
import pyarrow as pa
from pyarrow import cuda
opaque = pa.py_buffer(bytes.fromhex(sys.argv[1]))
buf = cuda.Context().open_ipc_buffer(cuda.IpcMemHandle.from_buffer(opaque))
schema = pa.schema([("x", pa.int64()), ("s", pa.string())])
there = cuda.read_record_batch(buf, schema)
print([column.is_cpu for column in there.columns])
print(there.copy_to(pa.default_cpu_memory_manager()).to_pylist())
"""
batch = pa.record_batch({"x": [1, None, 3], "s": ["one", None, "three"]})
message = cuda.serialize_record_batch(batch, cuda.Context())
handle = message.export_for_ipc().serialize().to_pybytes()
command = [sys.executable, "-P", "-c", program, handle.hex()]
print(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
