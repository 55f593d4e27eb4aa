# Arrays that each thread has for itself while a kernel runs.
# environment: NUMBA_CUDA_MEMORY_MANAGER=pyarrow_cuda_compat.numba
# needs: gpu, numba kernels
import warnings

import numba.cuda
import numpy as np
from numba import int32
from pyarrow import cuda

# Numba finds so few blocks worth a warning.
warnings.simplefilter("ignore")
ctx = cuda.Context(0)


@numba.cuda.jit
def sums(values):
    """Each thread sums up as many numbers as its own, from 1 on."""
    own = numba.cuda.local.array(4, int32)
    table = numba.cuda.local.array(shape=(2, 2), dtype=int32)
    place = numba.cuda.grid(1)
    for number in range(4):
        own[number] = number + 1 if number < values[place] else 0
    table[0, 0], table[0, 1], table[1, 0], table[1, 1] = own[0], own[1], own[2], own[3]
    values[place] = table[0, 0] + table[0, 1] + table[1, 0] + table[1, 1]


array = numba.cuda.to_device(np.arange(5, dtype=np.int32))
ctx.bytes_allocated
sums[1, 5](array)
array.copy_to_host()
ctx.bytes_allocated
