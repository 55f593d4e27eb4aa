# Bytes of another length than a handle's are refused, and none is read past their end.
# shows: pyarrow_cuda
#   IpcMemHandle.from_buffer(opaque_handle): bytes of another length than a handle's are refused
import pyarrow as pa
from pyarrow import cuda

for length in (0, 1, 7, 9, 71, 73, 81):
    try:
        cuda.IpcMemHandle.from_buffer(opaque_handle=pa.py_buffer(b"\1" * length))
    except pa.ArrowInvalid as error:
        print(error)
cuda.IpcMemHandle.from_buffer(pa.py_buffer((-1).to_bytes(8, "little", signed=True) + bytes(64)))
