# A buffer is named to another process, which reads and writes the same memory.
# shows: cuda_buffer, export_for_ipc
#   CudaBuffer.export_for_ipc: another process can use the memory
#   CudaBuffer.export_for_ipc: returns an IpcMemHandle
#   CudaBuffer.export_for_ipc: memory that came from another process is not exported again
# shows: pyarrow_cuda
#   IpcMemHandle: another process reads and writes the memory that it names
#   IpcMemHandle: imported memory is not exported again: an ArrowInvalid
import subprocess
import sys

from pyarrow import cuda

ctx = cuda.Context(0)
buf = ctx.buffer_from_data(b"0123456789")
handle = buf.export_for_ipc()
type(handle)
type(handle.serialize())
OTHER = """
import sys
import pyarrow as pa
from pyarrow import cuda
handle = cuda.IpcMemHandle.from_buffer(pa.py_buffer(bytes.fromhex(sys.argv[1])))
buf = cuda.Context(0).open_ipc_buffer(handle)
print(type(buf).__name__, buf.size, buf.is_mutable, buf.context.device_number, buf.to_pybytes())
print(buf.copy_from_host(b"xyz", position=4))
print(buf.slice(3, 5).to_pybytes(), buf.equals(pa.py_buffer(b"0123xyz789")))
for part in (buf, buf.slice(2)):
    try:
        part.export_for_ipc()
    except pa.ArrowInvalid as error:
        print(error)
print(cuda.Context(0).buffer_from_data(buf).export_for_ipc().serialize().size)
"""


def elsewhere(handle):
    command = [sys.executable, "-c", OTHER, handle.serialize().to_pybytes().hex()]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    print(done.stdout + done.stderr, end="")


elsewhere(handle)

# The bytes that the other process wrote are here, and outlive it.
buf.to_pybytes()

# The same memory again, by another export.
buf.copy_from_host(b"0123456789")
elsewhere(buf.export_for_ipc())
buf.export_for_ipc().serialize().equals(handle.serialize())
