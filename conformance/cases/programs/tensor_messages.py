# Tensors as messages: the handle as an Arrow array, the shape beside it; the receiver views them.
# needs: numba.cuda
# shows: programs, Arrays
#   CudaBuffer.from_numba: memory of another library is exported by its handle
#   CudaBuffer.to_numba: the receiver's view has the shape and strides that came with the handle
#   CudaBuffer.export_for_ipc: of memory that begins inside an allocation, exactly that is exported
import json
import subprocess
import sys

import numba.cuda
import numpy as np
import pyarrow as pa
from pyarrow import cuda

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
