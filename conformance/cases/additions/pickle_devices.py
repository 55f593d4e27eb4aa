# Pickled memory arrives on the device with the same number, or else on device 0.
# needs: two devices
# shows: additions, Pickling
#   Context.device_number: a pickle is loaded to the device with the same number, or to device 0
import copy
import os
import pickle
import subprocess
import sys
import tempfile

import pyarrow as pa
from pyarrow import cuda

from pyarrow_cuda_compat import DeviceArray

ctx = cuda.Context(1)
buf = ctx.buffer_from_data(b"0123456789")
batch = pa.record_batch({"x": [1, None, 3]}).copy_to(ctx.memory_manager)
again = pickle.loads(pickle.dumps(buf))
(again.context.device_number, again.to_pybytes())
again = pickle.loads(pickle.dumps(batch))
cuda.CudaBuffer.from_buffer(again.column(0).buffers()[1]).context.device_number
(copy.copy(buf).context.device_number, copy.deepcopy(buf).context.device_number)
shared = DeviceArray.from_host([1], context=ctx).export_for_ipc()
pickle.loads(pickle.dumps(shared)).device_number
# In a process that has one device.
program = """
import pickle, sys
import pyarrow as pa
with open(sys.argv[1], "rb") as file:
    buf, batch = pickle.load(file)
print(type(buf).__name__, buf.context.device_number, buf.to_pybytes())
print(batch.is_cpu, batch.copy_to(pa.default_cpu_memory_manager()).to_pydict())
"""
with tempfile.NamedTemporaryFile() as file:
    pickle.dump([buf, batch], file)
    file.flush()
    done = subprocess.run(
        [sys.executable, "-P", "-c", program, file.name],
        env=os.environ | {"CUDA_VISIBLE_DEVICES": "0", "CUDA_SIM_DEVICES": "1"},
        capture_output=True,
        text=True,
    )
print(done.stdout + done.stderr)
