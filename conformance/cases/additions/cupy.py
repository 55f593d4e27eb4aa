# Arrays of CuPy and device buffers share memory, both ways.
# needs: gpu, cupy
# shows: additions, Other libraries
#   cupy: CuPy's arrays share memory with buffers and device arrays, and retain each other's
import gc

import cupy
import numpy as np
import pyarrow as pa
from pyarrow import cuda

from pyarrow_cuda_compat import DeviceArray, from_dlpack

ctx = cuda.Context(0)
buf = ctx.buffer_from_data(np.arange(6, dtype=np.float32))
array = cupy.from_dlpack(DeviceArray(buf, "<f4", (2, 3)))
(array.data.ptr == buf.address, array.shape, array.dtype.name)
array *= 2
np.frombuffer(buf.copy_to_host(), np.float32).tolist()
# Work that CuPy has queued comes before the copies.
cupy.asarray(buf)[:4] = 255
buf.slice(0, 5).to_pybytes()
numbers = pa.array([1, 2, 3]).copy_to(ctx.memory_manager)
int(cupy.from_dlpack(numbers).sum())
# CuPy's array keeps the memory.
before = ctx.bytes_allocated
del buf
_ = gc.collect()
(ctx.bytes_allocated - before, array[1].get().tolist())
del array
_ = gc.collect()
ctx.bytes_allocated - before
# The other way the array here keeps CuPy's, and so does a buffer.
made = cupy.arange(4, dtype=np.int16)
views = [from_dlpack(made), DeviceArray(made), ctx.buffer_from_object(made)]
[view.address == made.data.ptr for view in views]
del made
[np.frombuffer(view.copy_to_host(), np.int16).tolist() for view in views]
views[0].to_arrow().slice(1).copy_to(pa.default_cpu_memory_manager()).to_pylist()
# A column of a matrix has gaps: it is an array, and no buffer.
matrix = cupy.zeros((4, 4), np.uint8)
from_dlpack(matrix[:, 1]).fill(5)
matrix.sum(axis=0).tolist()
ctx.buffer_from_object(matrix[:, 1])
