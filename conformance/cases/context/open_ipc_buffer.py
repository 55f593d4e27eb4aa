# Memory of another process is mapped, read and written.
# shows: pyarrow_cuda
#   Context.open_ipc_buffer: a CudaBuffer over memory that another process has exported
#   Context.open_ipc_buffer: the memory is unmapped with the last buffer over it
#   Context.open_ipc_buffer(ipc_handle): the handle; anything else is a TypeError
import subprocess
import sys

import pyarrow as pa
from pyarrow import cuda

ctx = cuda.Context()
program = """
import sys
import pyarrow as pa
from pyarrow import cuda
ctx = cuda.Context()
buf = ctx.buffer_from_data(b"made by the other process")
print(buf.export_for_ipc().serialize().to_pybytes().hex(), flush=True)
sys.stdin.readline()
print(buf.slice(0, 4).to_pybytes())
"""
pipe = subprocess.PIPE
peer = subprocess.Popen([sys.executable, "-P", "-c", program], stdin=pipe, stdout=pipe, text=True)
handle = cuda.IpcMemHandle.from_buffer(pa.py_buffer(bytes.fromhex(peer.stdout.readline())))
before = ctx.bytes_allocated
buf = ctx.open_ipc_buffer(ipc_handle=handle)
type(buf), buf.size, buf.is_mutable, buf.is_cpu, buf.context.handle == ctx.handle
buf.to_pybytes(), buf.copy_from_host(b"MADE")
# Opened twice it is the same memory, and memory of others is not counted as allocated here.
again = ctx.open_ipc_buffer(handle)
again.slice(0, 7).to_pybytes(), ctx.bytes_allocated - before
# The mapping ends with the last buffer over it, while the other process keeps the memory.
address = buf.address
del buf
ctx.get_device_address(address) == address
del again
ctx.get_device_address(address)
peer.communicate("go on\n")[0], peer.returncode
ctx.open_ipc_buffer(b"no handle")
