# Arrays that the host and the device share, for good and for the time of a block.
# shows: additions, Numba's memory API
#   pyarrow_cuda_compat.memory.mapped_array: an array that the host and the device share
#   pyarrow_cuda_compat.memory.mapped_array_like: like another one
#   pyarrow_cuda_compat.memory.mapped: shares arrays of the host for a block
import numpy as np

from pyarrow_cuda_compat import memory

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
array.tolist()
memory.is_cuda_array(array[1:]), memory.is_cuda_array(array.copy())
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
