# Arrays of JAX and device buffers share memory, both ways.
# environment: XLA_PYTHON_CLIENT_PREALLOCATE=false
# needs: gpu, jax
# shows: additions, Other libraries
#   jax: so do arrays of JAX
import gc

import jax
import numpy as np
import pyarrow as pa
from pyarrow import cuda

from pyarrow_cuda_compat import DeviceArray, from_dlpack

ctx = cuda.Context(0)
buf = ctx.buffer_from_data(bytes(range(256)))
array = jax.dlpack.from_dlpack(buf)
(array.unsafe_buffer_pointer() == buf.address, array.shape, array.dtype.name)
int(array[255])
matrix = ctx.buffer_from_data(np.arange(6, dtype=np.float32))
np.asarray(jax.dlpack.from_dlpack(DeviceArray(matrix, "<f4", (2, 3)))).tolist()
numbers = pa.array([1, 2, 3], pa.int32()).copy_to(ctx.memory_manager)
int(jax.dlpack.from_dlpack(numbers).sum())
# JAX's array keeps the memory.
before = ctx.bytes_allocated
del buf
_ = gc.collect()
(ctx.bytes_allocated - before, int(array[128]))
# The other way the array here keeps JAX's.
made = jax.device_put(np.arange(4, dtype=np.int16))
view = from_dlpack(made)
view.address == made.unsafe_buffer_pointer()
del made
view.copy_to_host()
