# Buffers are copied to a device or the host, and viewed from there; NumPy gets their bytes.
# shows: additions, Device buffers
#   pyarrow.Buffer.copy: copies any buffer to a device, or to the host
#   pyarrow.Buffer.copy(destination): a memory manager or a device
#   pyarrow.Buffer.view: the same memory as another device, or the host, sees it
#   CudaBuffer.__array__: NumPy gets the bytes by one copy
import numpy as np
import pyarrow as pa
from pyarrow import cuda

ctx = cuda.Context()
host = pa.default_cpu_memory_manager()
there = pa.py_buffer(b"some bytes").copy(destination=ctx.device)
(type(there) is cuda.CudaBuffer, there.size, there.device == ctx.device)
back = there.copy(host)
(back.is_cpu, back.to_pybytes())
pinned = cuda.new_host_buffer(4)
view = pinned.view(ctx.memory_manager)
np.frombuffer(pinned, np.uint8)[:] = [1, 2, 3, 4]
view.to_pybytes()
view.view(host).address == pinned.address
try:
    there.view(host)
except NotImplementedError as error:
    print(str(error).rpartition(" ")[2])

np.asarray(there[:4])
int(np.asarray(there, dtype="u2").sum()) == sum(b"some bytes")
try:
    there.__array__(copy=False)
except ValueError as error:
    print(error)
