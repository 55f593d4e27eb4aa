# Arrays that each thread has for itself while a kernel runs.
# environment: NUMBA_CUDA_MEMORY_MANAGER=pyarrow_cuda_compat.numba
# needs: gpu, numba kernels
# shows: numba_memory, Local memory
#   numba.cuda.local.array: an array that belongs to one thread, inside a kernel
#   numba.cuda.local.array(shape): its shape: a number or several
#   numba.cuda.local.array: type, the second argument (Numba now calls it dtype): the type of its
#     items
#   numba.cuda.local.array: allocated once for the time of the kernel
#   numba.cuda.local.array: read and written as any array
import warnings

import numba.cuda
import numpy as np
from numba import int32
from pyarrow import cuda

# Numba finds so few blocks worth a warning.
warnings.simplefilter("ignore")
ctx = cuda.Context(0)


@numba.cuda.jit
def digits(values):
    """Replaces each number by how many of its decimal digits are the most frequent one."""
    counts = numba.cuda.local.array(10, int32)
    place = numba.cuda.grid(1)
    for digit in range(10):
        counts[digit] = 0
    rest = values[place]
    while rest > 0:
        counts[rest % 10] += 1
        rest //= 10
    most = 0
    for digit in range(10):
        most = max(most, counts[digit])
    values[place] = most


array = numba.cuda.to_device(np.array([0, 7, 121, 4444, 998877665], np.int32))
ctx.bytes_allocated
digits[1, 5](array)
array.copy_to_host()


@numba.cuda.jit
def moves(values):
    """Moves a mark on each thread's own board, where it finds what the turns before have left."""
    place = numba.cuda.grid(1)
    at = 0
    for turn in range(4):
        board = numba.cuda.local.array(shape=(8, 8), dtype=int32)
        if turn == 0:
            for field in range(64):
                board[field // 8, field % 8] = 0
        at = (at + values[place]) % 64
        board[at // 8, at % 8] += turn + 1
    total = 0
    for field in range(64):
        total += board[field // 8, field % 8] * field
    values[place] = total


# There is one array in all of these turns, whose bytes the compiled kernel states.
array = numba.cuda.to_device(np.array([1, 9, 20, 63], np.int32))
moves[1, 4](array)
array.copy_to_host()
list(moves.get_local_mem_per_thread().values())
