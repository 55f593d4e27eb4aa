# Kernels of Numba take device buffers and tensors as they are, and its arrays are buffers.
# needs: gpu, numba kernels
import gc
import warnings

import numba.cuda
import numpy as np
import pyarrow as pa
from pyarrow import cuda

from pyarrow_cuda_compat import DeviceTensor, to_dlpack

# Numba finds so few blocks worth a warning.
warnings.simplefilter("ignore")


@numba.cuda.jit
def double(values):
    place = numba.cuda.grid(1)
    if place < values.size:
        values[place] *= 2


ctx = cuda.Context(0)
buf = ctx.buffer_from_data(bytes(range(8)))
double[1, 32](buf)
buf.to_pybytes()
floats = ctx.buffer_from_data(np.array([0.5, 1.5, 2.5], np.float32))
double[1, 32](DeviceTensor(floats, "<f4", (3,)))
np.frombuffer(floats.copy_to_host(), np.float32).tolist()
# An Arrow array on the device.
numbers = pa.array([1, 2, 3]).copy_to(ctx.memory_manager)
double[1, 32](to_dlpack(numbers))
numbers.copy_to(pa.default_cpu_memory_manager()).to_pylist()
# As an array of Numba's, which keeps the memory.
array = numba.cuda.as_cuda_array(DeviceTensor(buf, "<i2", (2, 2)))
(array.shape, array.dtype.name)
array.copy_to_host().tobytes()
before = ctx.bytes_allocated
del buf
_ = gc.collect()
ctx.bytes_allocated - before
# The other way the buffer keeps Numba's array.
made = numba.cuda.to_device(np.arange(4, dtype=np.int16))
view = ctx.buffer_from_object(made)
view.address == made.__cuda_array_interface__["data"][0]
del made
np.frombuffer(view.copy_to_host(), np.int16).tolist()
