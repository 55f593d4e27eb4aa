# Page-locked arrays of the host: new ones, and ones that are there already.
# environment: NUMBA_CUDA_MEMORY_MANAGER=pyarrow_cuda_compat.numba
# needs: gpu, numba kernels
import mmap

import numba.cuda
import numpy as np
import pyarrow as pa
from pyarrow import cuda

ctx = cuda.Context(0)
array = numba.cuda.pinned_array(shape=(2, 3), dtype=np.int32)
type(array), array.shape, array.strides, array.dtype.name
numba.cuda.pinned_array(3).dtype.name
numba.cuda.pinned_array((2, 3), dtype=np.int32, order="F").strides
numba.cuda.pinned_array((2, 3), dtype=np.int32, strides=(16, 4)).strides


def is_pinned(array):
    """Whether the device can reach the memory of the host."""
    try:
        return ctx.get_device_address(array.ctypes.data) > 0
    except (OSError, pa.ArrowException):
        return False


is_pinned(array)
# For the time of a block, any number of arrays.
one, other = (np.frombuffer(mmap.mmap(-1, size), np.int64) for size in (4096, 8192))
one[:] = 7
is_pinned(one), is_pinned(other)
with numba.cuda.pinned(one, other):
    print(is_pinned(one), is_pinned(other))
    print((numba.cuda.to_device(one).copy_to_host() == one).all())

is_pinned(one), is_pinned(other)
