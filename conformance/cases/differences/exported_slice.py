# The handle of a part names that part: its place follows the 72 bytes.
# shows: additions, IPC
#   IpcMemHandle.serialize: the handle of a slice contains its offset
# shows: pyarrow_cuda
#   IpcMemHandle: the handle of a slice opens as that slice
import struct
import subprocess
import sys

from pyarrow import cuda

program = """
import sys
import pyarrow as pa
from pyarrow import cuda
ctx = cuda.Context()
opaque = bytes.fromhex(sys.argv[1])
buf = ctx.open_ipc_buffer(cuda.IpcMemHandle.from_buffer(pa.py_buffer(opaque)))
print(buf.size, buf.to_pybytes())
buf.copy_from_host(b"XYZ")
too_much = (1 << 40).to_bytes(8, "little") + opaque[8:]
try:
    ctx.open_ipc_buffer(cuda.IpcMemHandle.from_buffer(pa.py_buffer(too_much)))
except pa.ArrowInvalid:
    print("refused")
"""
whole = cuda.Context().buffer_from_data(b"0123456789")
opaque = whole.slice(4, 3).export_for_ipc().serialize().to_pybytes()
len(opaque), struct.unpack("=q", opaque[:8]) + struct.unpack("=q", opaque[72:])
opaque[8:72] == whole.export_for_ipc().serialize().to_pybytes()[8:]
command = [sys.executable, "-P", "-c", program, opaque.hex()]
print(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
whole.to_pybytes()
