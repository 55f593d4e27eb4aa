# An array over another library's memory goes to C code in a structure, and comes back.
# needs: numba.cuda
# shows: programs, Arrays
#   pyarrow.Array.from_buffers: memory of Numba goes to C code as an Arrow array, by addresses of
#     structures
#   CudaBuffer.from_numba: memory of another library is exported by its handle
#   CudaBuffer.to_numba: the receiver's view has the shape and strides that came with the handle
#   CudaBuffer.export_for_ipc: of memory that begins inside an allocation, exactly that is exported
import ctypes
import json
import struct
import subprocess
import sys

import numba.cuda
import numpy as np
import pyarrow as pa
from pyarrow import cuda

given = numba.cuda.to_device(np.arange(10, 14, dtype=np.int32))
buf = cuda.CudaBuffer.from_numba(given.gpu_data)
array = pa.Array.from_buffers(pa.int32(), 4, [None, buf], null_count=0)
structure, schema = ctypes.create_string_buffer(128), ctypes.create_string_buffer(72)
array._export_to_c_device(ctypes.addressof(structure), ctypes.addressof(schema))
# The C code finds length, nulls, offset and buffers; the device's number and kind.
length, nulls, offset, count, _, buffers = struct.unpack_from("5qP", structure)
(length, nulls, offset, count, struct.unpack_from("qi", structure, 80))
mask, data = struct.unpack("PP", ctypes.string_at(buffers, 16))
(mask, data == buf.address, ctypes.string_at(*struct.unpack_from("P", schema)))
# It gives the array back, which has the memory when nobody else has.
del array, buf, given
back = pa.Array._import_from_c_device(ctypes.addressof(structure), ctypes.addressof(schema))
(back.is_cpu, back.copy_to(pa.default_cpu_memory_manager()).to_pylist())
# Addresses that cannot be are refused before anything is read.
for address in 64, -1, 0, float(64), True, "64":
    try:
        pa.Array._import_from_c_device(address, ctypes.addressof(schema))
    except (ValueError, TypeError, OverflowError) as error:
        print(type(error).__name__, error)
# A structure that contradicts itself is refused before anything in it is followed.
there = pa.array([1, 2]).copy_to(cuda.Context())
for place, wrong in (0, -5), (16, -1), (24, 7), (40, 0):
    there._export_to_c_device(ctypes.addressof(structure), ctypes.addressof(schema))
    struct.pack_into("q", structure, place, wrong)
    try:
        pa.Array._import_from_c_device(ctypes.addressof(structure), ctypes.addressof(schema))
    except pa.ArrowInvalid as error:
        print(error)

# Tensors as messages: the handle as an Arrow array, the shape beside it; the receiver views them.
program = """
import json, sys
import pyarrow as pa
from numba.cuda.cudadrv.devicearray import DeviceNDArray
from pyarrow import cuda
ctx = cuda.Context()
for values, shape, strides, dtype in json.loads(sys.argv[1]):
    message = pa.array(values, pa.uint8())
    handle = cuda.IpcMemHandle.from_buffer(message.buffers()[1])
    buf = ctx.open_ipc_buffer(handle)
    print(DeviceNDArray(shape, strides, dtype, gpu_data=buf.to_numba()).copy_to_host().tolist())
"""


def message(tensor):
    buf = cuda.CudaBuffer.from_numba(tensor.gpu_data)
    handle = pa.array(buf.export_for_ipc().serialize(), type=pa.uint8())
    return handle.to_pylist(), tensor.shape, tensor.strides, tensor.dtype.str


pool = numba.cuda.to_device(np.arange(24, dtype=np.float32))
tensors = [pool[:6].reshape(2, 3), pool[8:20].reshape(2, 3, 2)]
sent = json.dumps([message(tensor) for tensor in tensors])
command = [sys.executable, "-P", "-c", program, sent]
print(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
