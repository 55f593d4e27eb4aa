# A handle that is opened twice gives the same memory twice, which the last of the two closes.
# shows: additions, IPC
#   Context.open_ipc_buffer: one handle can be opened any number of times
import subprocess
import sys

from pyarrow import cuda

program = """
import ctypes, re, sys
import pyarrow as pa
from pyarrow import cuda
ctx = cuda.Context()
path = re.search(r"/\\S*libcuda(_sim)?\\.so\\S*", open("/proc/self/maps").read())[0]
driver = ctypes.CDLL(path)
driver.cuCtxSetCurrent(ctypes.c_void_p(ctx.handle))
def is_open(address):
    kind = ctypes.c_uint64()
    code = driver.cuPointerGetAttribute(ctypes.byref(kind), 2, ctypes.c_uint64(address))
    return {0: "open", 1: "closed"}[code]
opaque = pa.py_buffer(bytes.fromhex(sys.argv[1]))
handle = cuda.IpcMemHandle.from_buffer(opaque)
for _ in range(2):
    first, second = ctx.open_ipc_buffer(handle), ctx.open_ipc_buffer(handle)
    address = first.address
    print("one mapping" if second.address == address else "two mappings")
    first.copy_from_host(b"shared")
    del first
    print(second.to_pybytes(), is_open(address))
    del second
    print(is_open(address))
"""
handle = cuda.Context().buffer_from_data(b"0123456789").export_for_ipc().serialize().to_pybytes()
command = [sys.executable, "-P", "-c", program, handle.hex()]
print(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
