# Also a buffer of no bytes can be exported.
# shows: cuda_buffer, export_for_ipc
#   CudaBuffer.export_for_ipc: empty buffers, and memory that cannot be exported
# shows: pyarrow_cuda
#   IpcMemHandle.serialize: the handle of an empty buffer contains only its size
import subprocess
import sys

from pyarrow import cuda

ctx = cuda.Context(0)
handle = ctx.new_buffer(0).export_for_ipc()
handle.serialize().to_pybytes()
OTHER = """
import pyarrow as pa
from pyarrow import cuda
buf = cuda.Context(0).open_ipc_buffer(cuda.IpcMemHandle.from_buffer(pa.py_buffer(bytes(8))))
print(type(buf).__name__, buf.size, buf.to_pybytes())
"""
command = [sys.executable, "-c", OTHER]
print(subprocess.run(command, capture_output=True, text=True, check=True).stdout, end="")

# Page-locked memory of the host cannot.
pinned = ctx.buffer_from_object(cuda.new_host_buffer(100))
pinned.export_for_ipc()
