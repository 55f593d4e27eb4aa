# Arrays that the threads of a block share while a kernel runs.
# environment: NUMBA_CUDA_MEMORY_MANAGER=pyarrow_cuda_compat.numba
# needs: gpu, numba kernels
# shows: numba_memory, Shared memory and thread synchronization
#   numba.cuda.shared.array: an array that all threads of a block share, inside a kernel
#   numba.cuda.shared.array(shape): its shape: a number or several
#   numba.cuda.shared.array: type, the second argument (Numba now calls it dtype): the type of its
#     items
#   numba.cuda.shared.array: allocated once for the time of the kernel
#   numba.cuda.shared.array: read and written as any device array
#   numba.cuda.syncthreads: waits in a kernel until all threads of the block reach this call
import warnings

import numba.cuda
import numpy as np
from numba import float32, int32
from pyarrow import cuda

from pyarrow_cuda_compat import memory_stats

# Numba finds so few blocks worth a warning.
warnings.simplefilter("ignore")
ctx = cuda.Context(0)


@numba.cuda.jit
def reverse(values):
    """Reverses each block's 256 items, of which some come late."""
    part = numba.cuda.shared.array(256, int32)
    thread, place = numba.cuda.threadIdx.x, numba.cuda.grid(1)
    if thread < 32:
        numba.cuda.nanosleep(200_000)
    part[thread] = values[place]
    numba.cuda.syncthreads()
    values[place] = part[255 - thread]


host = np.arange(512, dtype=np.int32)
array = numba.cuda.to_device(host)
ctx.bytes_allocated
reverse[2, 256](array)
np.array_equal(array.copy_to_host().reshape(2, 256), host.reshape(2, 256)[:, ::-1])


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


@numba.cuda.jit
def add_three(values):
    """Finds in the array what the turn before has left there."""
    thread, place = numba.cuda.threadIdx.x, numba.cuda.grid(1)
    for turn in range(4):
        part = numba.cuda.shared.array(256, int32)
        part[thread] = values[place] if turn == 0 else part[thread] + 1
    values[place] = part[thread]


# There is one array in all of these turns, whose bytes the compiled kernel states ...
array = numba.cuda.to_device(host)
before = memory_stats(ctx)
add_three[2, 256](array)
np.array_equal(array.copy_to_host(), host + 3)
list(add_three.get_shared_mem_per_block().values())
# ... and which is not allocated device memory.
{name for name, value in memory_stats(ctx).items() if value != before[name]}
