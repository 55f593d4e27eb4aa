# Arrays of the host in pinned memory, and arrays that are pinned for the time of a block.
# shows: additions, Numba's memory API
#   pyarrow_cuda_compat.memory.pinned_array: an array of NumPy in pinned memory
#   pyarrow_cuda_compat.memory.pinned_array_like: like another one
#   pyarrow_cuda_compat.memory.pinned: pins arrays for a block, and unpins them also when it raises
import mmap

import numpy as np
import pyarrow as pa
from pyarrow import cuda

from pyarrow_cuda_compat import memory

ctx = cuda.Context(0)


def is_pinned(array):
    """Whether the device can reach the memory of the host."""
    try:
        return ctx.get_device_address(array.ctypes.data) > 0
    except (OSError, pa.ArrowException):
        return False


array = memory.pinned_array(shape=(2, 3), dtype=np.int32, order="F")
(type(array), array.strides, is_pinned(array))
memory.pinned_array(3).dtype
memory.pinned_array((2, 3), dtype=np.int32, strides=(16, 4)).strides
memory.pinned_array(3, strides=(-8,)).strides
memory.pinned_array_like(ary=np.ones((2, 3), "f4")).nbytes
one, other, third = (np.frombuffer(mmap.mmap(-1, 8192), np.int64) for _ in range(3))
with memory.pinned(one, other):
    print(is_pinned(one), is_pinned(other))

(is_pinned(one), is_pinned(other))
# A block that raises unpins as well.
with memory.pinned(one):
    print(is_pinned(one))
    raise KeyError("in the block")

is_pinned(one)
# So does one that cannot pin all arrays.
with memory.pinned(third), memory.pinned(one, third):
    pass

(is_pinned(one), is_pinned(third))
