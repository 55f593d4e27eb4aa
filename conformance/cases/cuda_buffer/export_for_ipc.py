# A buffer is named to another process, which reads and writes the same memory.
# shows: cuda_buffer, export_for_ipc
#   CudaBuffer.export_for_ipc: the memory is not released with the buffer
#   CudaBuffer.export_for_ipc: another process can use the memory
#   CudaBuffer.export_for_ipc: returns an IpcMemHandle
#   CudaBuffer.export_for_ipc: memory that came from another process is not exported again
#   CudaBuffer.export_for_ipc: empty buffers, and memory that cannot be exported
# shows: pyarrow_cuda
#   IpcMemHandle: the memory stays allocated when the exported buffer is released
#   IpcMemHandle: another process reads and writes the memory that it names
#   IpcMemHandle: imported memory is not exported again: an ArrowInvalid
#   IpcMemHandle.serialize: the handle of an empty buffer contains only its size
import subprocess
import sys

from pyarrow import cuda

# Exported memory stays allocated when the buffer goes, and other processes can still open it.
ctx = cuda.Context(0)
OTHER = """
import sys
import pyarrow as pa
from pyarrow import cuda
handle = cuda.IpcMemHandle.from_buffer(pa.py_buffer(bytes.fromhex(sys.argv[1])))
print(cuda.Context(0).open_ipc_buffer(handle).to_pybytes())
"""


def elsewhere(handle):
    command = [sys.executable, "-c", OTHER, handle.serialize().to_pybytes().hex()]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    print(done.stdout + done.stderr, end="")


exported, private = ctx.buffer_from_data(b"to be shared"), ctx.buffer_from_data(b"not to be")
handle = exported.export_for_ipc()
ctx.bytes_allocated
del private
ctx.bytes_allocated
del exported
ctx.bytes_allocated
# New buffers do not take its place.
others = [ctx.buffer_from_data(b"------------") for _ in range(100)]
elsewhere(handle)
del others
ctx.bytes_allocated
# A slice that is exported keeps the whole, and the other process sees the slice.
whole = ctx.buffer_from_data(b"0123456789")
handle = whole.slice(2, 5).export_for_ipc()
del whole
ctx.bytes_allocated
elsewhere(handle)

# Another process reads it and writes to it.
buf = ctx.buffer_from_data(b"0123456789")
handle = buf.export_for_ipc()
type(handle), type(handle.serialize())
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
elsewhere(handle)
# The bytes that the other process wrote are here, and outlive it.
buf.to_pybytes()
# The same memory again, by another export.
buf.copy_from_host(b"0123456789")
elsewhere(buf.export_for_ipc())
buf.export_for_ipc().serialize().equals(handle.serialize())

# Also a buffer of no bytes can be exported.
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
