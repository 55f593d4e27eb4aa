# A product of matrices, tile by tile: each block's threads share the tiles that they need.
# needs: gpu, numba kernels
# shows: numba_memory, Shared memory and thread synchronization
#   numba.cuda.shared.array: the linked example: a product of matrices, by tiles in shared memory,
#     over device buffers
import warnings

import numba.cuda
import numpy as np
from numba import float32
from numba.cuda.cudadrv.devicearray import DeviceNDArray
from pyarrow import cuda

# Numba finds so few blocks worth a warning.
warnings.simplefilter("ignore")
SIZE = 16


@numba.cuda.jit
def multiply(left, right, product):
    rows = numba.cuda.shared.array((SIZE, SIZE), float32)
    columns = numba.cuda.shared.array((SIZE, SIZE), float32)
    row, column = numba.cuda.grid(2)
    x, y = numba.cuda.threadIdx.x, numba.cuda.threadIdx.y
    total = float32(0)
    for start in range(0, left.shape[1], SIZE):
        # Outside the matrices there are zeros.
        rows[x, y] = columns[x, y] = 0
        if row < left.shape[0] and start + y < left.shape[1]:
            rows[x, y] = left[row, start + y]
        if start + x < right.shape[0] and column < right.shape[1]:
            columns[x, y] = right[start + x, column]
        # All threads have brought their items, and later are done with all of them.
        numba.cuda.syncthreads()
        for index in range(SIZE):
            total += rows[x, index] * columns[index, y]
        numba.cuda.syncthreads()
    if row < product.shape[0] and column < product.shape[1]:
        product[row, column] = total


# Whole numbers, so that the sums are exact; of these sizes none is a multiple of a tile's.
left = (np.arange(40 * 50).reshape(40, 50) % 7).astype(np.float32)
right = (np.arange(50 * 33).reshape(50, 33) % 5).astype(np.float32)
ctx = cuda.Context(0)
buffers = [ctx.buffer_from_data(left), ctx.buffer_from_data(right), ctx.new_buffer(40 * 33 * 4)]


def over(buf, columns):
    """A Numba matrix over a device buffer."""
    strides = (4 * columns, 4)
    shape = (buf.size // strides[0], columns)
    return DeviceNDArray(shape, strides, np.dtype(np.float32), gpu_data=buf.to_numba())


matrices = map(over, buffers, (50, 33, 33))
multiply[(3, 3), (SIZE, SIZE)](*matrices)
product = np.frombuffer(buffers[2].copy_to_host(), np.float32).reshape(40, 33)
np.array_equal(product, left @ right)
product[39, 28:]
# Two tiles for each block.
list(multiply.get_shared_mem_per_block().values()) == [2 * SIZE * SIZE * 4]
