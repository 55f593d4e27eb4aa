# Exported memory stays when its buffer goes: others may be using it.
# shows: pyarrow_cuda, IpcMemHandle
#   IpcMemHandle: the memory stays allocated when the exported buffer is released
import gc
import subprocess
import sys

from pyarrow import cuda

program = """
import sys
import pyarrow as pa
from pyarrow import cuda
opaque = pa.py_buffer(bytes.fromhex(sys.argv[1]))
print(cuda.Context().open_ipc_buffer(cuda.IpcMemHandle.from_buffer(opaque)).to_pybytes())
"""
ctx = cuda.Context()
before = ctx.bytes_allocated
buf = ctx.buffer_from_data(b"still here")
handle = buf.export_for_ipc().serialize().to_pybytes()
del buf
_ = gc.collect()
ctx.bytes_allocated - before
more = [ctx.buffer_from_data(b"others....") for _ in range(8)]
command = [sys.executable, "-P", "-c", program, handle.hex()]
subprocess.run(command, capture_output=True, text=True, check=True).stdout
