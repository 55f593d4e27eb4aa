# A handle that is opened twice gives the same memory twice, closed in either order.
import subprocess
import sys

from pyarrow import cuda

program = """
import sys
import pyarrow as pa
from pyarrow import cuda
ctx = cuda.Context()
opaque = pa.py_buffer(bytes.fromhex(sys.argv[1]))
handle = cuda.IpcMemHandle.from_buffer(opaque)
for _ in range(2):
    first, second = ctx.open_ipc_buffer(handle), ctx.open_ipc_buffer(handle)
    first.copy_from_host(b"shared")
    del first
    print(second.to_pybytes())
    del second
"""
handle = cuda.Context().buffer_from_data(b"0123456789").export_for_ipc().serialize().to_pybytes()
command = [sys.executable, "-P", "-c", program, handle.hex()]
print(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
