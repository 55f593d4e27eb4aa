# Bytes that cannot be a handle are refused, not read past their end.
# shows: pyarrow_cuda
#   IpcMemHandle.from_buffer(opaque_handle): too few bytes for a handle are refused
import pyarrow as pa
from pyarrow import cuda

for length in (0, 1, 7, 9, 71):
    try:
        cuda.IpcMemHandle.from_buffer(opaque_handle=pa.py_buffer(b"\1" * length))
    except pa.ArrowInvalid as error:
        print(error)
cuda.IpcMemHandle.from_buffer(pa.py_buffer((-1).to_bytes(8, "little", signed=True) + bytes(64)))
