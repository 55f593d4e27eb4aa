# Exported memory stays allocated when the buffer goes, and other processes can still open it.
# shows: cuda_buffer, export_for_ipc
#   CudaBuffer.export_for_ipc: the memory is not released with the buffer
# shows: pyarrow_cuda
#   IpcMemHandle: the memory stays allocated when the exported buffer is released
import subprocess
import sys

from pyarrow import cuda

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
