# Kernels take NumPy arrays, which are uploaded before and downloaded after the launch.
# environment: NUMBA_CUDA_MEMORY_MANAGER=pyarrow_cuda_compat.numba
# needs: gpu, numba kernels
# shows: numba_memory, Data transfer
#   numba.cuda: NumPy arrays are copied to the device automatically, and copied back after each
#     kernel
import warnings

import numba.cuda
import numpy as np
from pyarrow import cuda

# Numba finds so few blocks worth a warning, and copies as well.
warnings.simplefilter("ignore")
ctx = cuda.Context(0)


@numba.cuda.jit
def add_one(values):
    place = numba.cuda.grid(1)
    if place < values.size:
        values[place] += 1


host = np.arange(5)
add_one[1, 32](host)
host
# Without such copies where the array lies on the device.
array = numba.cuda.to_device(host)
ctx.bytes_allocated
add_one[1, 32](array)
add_one[1, 32](array)
array.copy_to_host()
host
