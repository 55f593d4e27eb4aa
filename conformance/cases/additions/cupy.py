# Arrays of CuPy and device buffers share memory, both ways.
# needs: gpu, cupy
import gc

import cupy
import numpy as np
import pyarrow as pa
from pyarrow import cuda

from pyarrow_cuda_compat import DeviceTensor, from_dlpack, to_dlpack

ctx = cuda.Context(0)
buf = ctx.buffer_from_data(np.arange(6, dtype=np.float32))
array = cupy.from_dlpack(DeviceTensor(buf, "<f4", (2, 3)))
(array.data.ptr == buf.address, array.shape, array.dtype.name)
array *= 2
np.frombuffer(buf.copy_to_host(), np.float32).tolist()
# Work that CuPy has queued comes before the copies.
cupy.asarray(buf)[:4] = 255
buf.slice(0, 5).to_pybytes()
numbers = pa.array([1, 2, 3]).copy_to(ctx.memory_manager)
int(cupy.from_dlpack(to_dlpack(numbers)).sum())
# CuPy's array keeps the memory.
before = ctx.bytes_allocated
del buf
_ = gc.collect()
(ctx.bytes_allocated - before, array[1].get().tolist())
del array
_ = gc.collect()
ctx.bytes_allocated - before
# The other way the buffer keeps CuPy's array.
made = cupy.arange(4, dtype=np.int16)
views = [from_dlpack(made), ctx.buffer_from_object(made)]
[view.address == made.data.ptr for view in views]
del made
[np.frombuffer(view.copy_to_host(), np.int16).tolist() for view in views]
pa.Array.from_buffers(pa.int16(), 4, [None, views[0]]).slice(1).copy_to(
    pa.default_cpu_memory_manager()
).to_pylist()
# A column of a matrix has gaps.
from_dlpack(cupy.zeros((4, 4), np.uint8)[:, 1])
