# Another process opens a device array, with its type, its shape and its gaps.
# shows: additions, IPC
#   DeviceArray.export_for_ipc: shares an array, also one with gaps, with another process
#   IpcArrayHandle: names the memory, the dtype, the shape and the strides
#   IpcArrayHandle.open: maps the array in another process
#   IpcArrayHandle.serialize: the handle as bytes
#   IpcArrayHandle.from_buffer: the handle from bytes; others are refused
# shows: additions, Pickling
#   DeviceArray: arrays are pickled with their elements
import pickle
import subprocess
import sys

import numpy as np

from pyarrow_cuda_compat import DeviceArray, IpcArrayHandle

program = """
import pickle, sys
array = pickle.loads(bytes.fromhex(sys.argv[1])).open()
print(array.dtype, array.shape, array.strides, array.copy_to_host().tolist())
array[0] = 100
"""
array = DeviceArray.from_host(np.arange(12, dtype=np.int16).reshape(3, 4))
handle = array[1:, ::-2].export_for_ipc()
(handle.dtype, handle.shape, handle.strides)
command = [sys.executable, "-P", "-c", program, pickle.dumps(handle).hex()]
print(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
array.copy_to_host()
# By bytes, as the handles of buffers.
IpcArrayHandle.from_buffer(handle.serialize())
IpcArrayHandle.from_buffer(handle.serialize().slice(3))
handle.open("0")
# The driver's own handle names a whole allocation, of which Numba's function views a part.  There
# is nothing of earlier arrays in it.
program = """
import sys
from pyarrow_cuda_compat import memory
handle = bytes.fromhex(sys.argv[1])
with memory.open_ipc_array(handle, (2, 2), "i2", (0x1FFFF8, 4), offset=2) as part:
    print(part.copy_to_host().tolist())
with memory.open_ipc_array(handle, 3, "i2", -2, offset=20) as backwards:
    print(backwards.copy_to_host().tolist())
"""
DeviceArray.empty(1 << 20, "i2").fill(7)
large = DeviceArray.from_host(np.arange((1 << 20) - 8, dtype="i2"))
own = large.buffer.export_for_ipc().serialize().to_pybytes()[8:72]
command = [sys.executable, "-P", "-c", program, own.hex()]
print(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
# Copies: pickles hold the elements.
copied = pickle.loads(pickle.dumps(array[:, 1]))
(copied.dtype, copied.shape, copied.strides, copied.copy_to_host())
pickle.loads(pickle.dumps(array.T))
