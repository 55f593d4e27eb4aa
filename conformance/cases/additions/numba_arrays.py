# Kernels of Numba take device buffers and arrays as they are, and its arrays are shared too.
# needs: gpu, numba kernels
# shows: additions, Other libraries
#   numba.cuda: Numba kernels accept buffers, device arrays and Arrow arrays; buffers and device
#     arrays are made of its arrays
import gc
import warnings

import numba.cuda
import numpy as np
import pyarrow as pa
from pyarrow import cuda

from pyarrow_cuda_compat import DeviceArray

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
floats = DeviceArray.from_host(np.array([0.5, 1.5, 2.5], np.float32))
double[1, 32](floats)
floats.copy_to_host().tolist()
# An Arrow array on the device.
numbers = pa.array([1, 2, 3]).copy_to(ctx.memory_manager)
double[1, 32](numbers)
numbers.copy_to(pa.default_cpu_memory_manager()).to_pylist()
# As a Numba array, which retains the memory.
array = numba.cuda.as_cuda_array(DeviceArray(buf, "<i2", (2, 2)))
(array.shape, array.dtype.name)
array.copy_to_host().tobytes()
before = ctx.bytes_allocated
del buf
_ = gc.collect()
ctx.bytes_allocated - before
# The other way an array here keeps Numba's, and so does a buffer.
made = numba.cuda.to_device(np.arange(4, dtype=np.int16))
views = [DeviceArray(made).buffer, ctx.buffer_from_object(made)]
[view.address == made.__cuda_array_interface__["data"][0] for view in views]
del made
[np.frombuffer(view.copy_to_host(), np.int16).tolist() for view in views]
