# A slice exports only its part of the buffer.
# shows: pyarrow_cuda, IpcMemHandle
#   IpcMemHandle: the handle of a slice opens as that slice
import subprocess
import sys

from pyarrow import cuda

program = """
import sys
import pyarrow as pa
from pyarrow import cuda
opaque = pa.py_buffer(bytes.fromhex(sys.argv[1]))
part = cuda.Context().open_ipc_buffer(cuda.IpcMemHandle.from_buffer(opaque))
print(part.size, part.to_pybytes())
part.copy_from_host(b"XYZ")
"""
whole = cuda.Context().buffer_from_data(b"0123456789")
handle = whole.slice(4, 3).export_for_ipc().serialize().to_pybytes()
command = [sys.executable, "-P", "-c", program, handle.hex()]
subprocess.run(command, capture_output=True, text=True, check=True).stdout
whole.to_pybytes()
