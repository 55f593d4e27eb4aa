# Memory of the second device in another process.
# needs: two devices
# shows: pyarrow_cuda
#   IpcMemHandle: memory of any device can be shared
import subprocess
import sys

from pyarrow import cuda

program = """
import sys
import pyarrow as pa
from pyarrow import cuda
opaque = pa.py_buffer(bytes.fromhex(sys.argv[1]))
buf = cuda.Context(1).open_ipc_buffer(cuda.IpcMemHandle.from_buffer(opaque))
print(buf.context.device_number, buf.to_pybytes())
"""
buf = cuda.Context(1).buffer_from_data(b"on the second")
handle = buf.export_for_ipc().serialize().to_pybytes()
command = [sys.executable, "-P", "-c", program, handle.hex()]
subprocess.run(command, capture_output=True, text=True, check=True).stdout
