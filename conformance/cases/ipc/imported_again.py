# Memory that was imported is not exported again.
# shows: pyarrow_cuda, IpcMemHandle
#   IpcMemHandle: imported memory is not exported again: an ArrowInvalid
import subprocess
import sys

from pyarrow import cuda

program = """
import sys
import pyarrow as pa
from pyarrow import cuda
opaque = pa.py_buffer(bytes.fromhex(sys.argv[1]))
buf = cuda.Context().open_ipc_buffer(cuda.IpcMemHandle.from_buffer(opaque))
for part in (buf, buf.slice(2)):
    try:
        part.export_for_ipc()
    except pa.ArrowInvalid as error:
        print(error)
copy = cuda.Context().buffer_from_data(buf)
print(copy.export_for_ipc().serialize().size)
"""
handle = cuda.Context().buffer_from_data(b"0123456789").export_for_ipc().serialize().to_pybytes()
command = [sys.executable, "-P", "-c", program, handle.hex()]
print(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
