# Another process reads and writes the same memory.
# shows: pyarrow_cuda, IpcMemHandle
#   IpcMemHandle: another process reads and writes the memory that it names
import subprocess
import sys

from pyarrow import cuda

program = """
import sys
import pyarrow as pa
from pyarrow import cuda
opaque = pa.py_buffer(bytes.fromhex(sys.argv[1]))
buf = cuda.Context(0).open_ipc_buffer(cuda.IpcMemHandle.from_buffer(opaque))
print(type(buf).__name__, buf.size, buf.is_cpu, buf.is_mutable, buf.context.device_number)
print(buf.to_pybytes())
print(buf.copy_from_host(b"from there", position=10))
"""


def peer(handle):
    command = [sys.executable, "-P", "-c", program, handle.serialize().to_pybytes().hex()]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


buf = cuda.Context(0).buffer_from_data(b"0123456789" * 3)
print(peer(buf.export_for_ipc()))
buf.to_pybytes()
buf.copy_from_host(b"from here")
print(peer(buf.export_for_ipc()))
