# Arrays of the host in pinned memory, and arrays that are pinned for the time of a block.
# shows: additions, Numba's memory API
#   pyarrow_cuda_compat.memory.pinned_array: an array of NumPy in pinned memory
#   pyarrow_cuda_compat.memory.pinned_array_like: like another one
#   pyarrow_cuda_compat.memory.pinned: pins arrays for a block, and unpins them also when it raises
#   pyarrow_cuda_compat.memory.mapped_array: an array that the host and the device share
#   pyarrow_cuda_compat.memory.mapped_array_like: like another one
#   pyarrow_cuda_compat.memory.mapped: shares arrays of the host for a block
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
type(array), array.strides, is_pinned(array), memory.pinned_array(3).dtype
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

# Arrays that the host and the device share, for good and for the time of a block.
array = memory.mapped_array(shape=(2, 3), dtype="i4", order="C", stream=0, portable=True, wc=False)
array[:] = [[1, 2, 3], [4, 5, 6]]
isinstance(array, np.ndarray), type(array).__name__
# The device sees what the host has written, and the other way round, without a copy.
on_device = memory.as_cuda_array(array[:, ::-1])
on_device.copy_to_host()
on_device[0] = 7
array
array.copy_to_host().sum(), type(array + 1).__name__, type(array.sum()).__name__
array.copy_to_device(np.ones((2, 3), "i4"))
array.tolist(), memory.is_cuda_array(array[1:]), memory.is_cuda_array(array.copy())
memory.mapped_array_like(ary=array.T, stream=0, portable=False, wc=False).strides
memory.mapped_array((2, 3), strides=(64, 8)).strides
array.flags.writeable = False
array.copy_to_device(np.ones((2, 3), "i4"))
# An array of the host, for a time.
host, other = np.arange(1000), np.zeros(3)
with memory.mapped(host, stream=memory.stream()) as on_device:
    on_device[:2] = 9
with memory.mapped(host[::2], other) as both:
    [each.shape for each in both]
with memory.mapped(np.arange(3)[::-1]) as reversed_:
    print(reversed_.strides, reversed_.copy_to_host())
host[:3]
with memory.mapped(host, order="C"):
    pass
