# Arrays that the threads of a block share while a kernel runs.
# environment: NUMBA_CUDA_MEMORY_MANAGER=pyarrow_cuda_compat.numba
# needs: gpu, numba kernels
import warnings

import numba.cuda
import numpy as np
from numba import float32, int32
from pyarrow import cuda

# Numba finds so few blocks worth a warning.
warnings.simplefilter("ignore")
ctx = cuda.Context(0)


@numba.cuda.jit
def reverse(values):
    """Reverses each block's 8 items."""
    part = numba.cuda.shared.array(8, int32)
    thread = numba.cuda.threadIdx.x
    place = numba.cuda.grid(1)
    part[thread] = values[place]
    numba.cuda.syncthreads()
    values[place] = part[7 - thread]


array = numba.cuda.to_device(np.arange(16, dtype=np.int32))
ctx.bytes_allocated
reverse[2, 8](array)
array.copy_to_host()


@numba.cuda.jit
def transpose(values):
    tile = numba.cuda.shared.array(shape=(4, 4), dtype=float32)
    x, y = numba.cuda.threadIdx.x, numba.cuda.threadIdx.y
    tile[x, y] = values[x, y]
    numba.cuda.syncthreads()
    values[x, y] = tile[y, x]


matrix = numba.cuda.to_device(np.arange(16, dtype=np.float32).reshape(4, 4))
transpose[1, (4, 4)](matrix)
matrix.copy_to_host()
# The shared arrays are none of the device's memory.
ctx.bytes_allocated
