# Host code for numba.cuda with the import changed: kernels take its arrays and streams.
# needs: gpu, numba kernels
# shows: additions, Numba's memory API
#   numba.cuda: kernels take the arrays, the fields of structures, mapped memory and the streams of
#     this module
import warnings

import numpy as np
from numba.cuda import grid, jit

from pyarrow_cuda_compat import memory as cuda

# Numba finds so few blocks worth a warning.
warnings.simplefilter("ignore")


@jit
def increment(array):
    place = grid(1)
    if place < array.size:
        array[place] += 1


@jit
def halve(records):
    place = grid(1)
    if place < records.size:
        records[place].share = records[place].count / 2


stream = cuda.stream()
host = cuda.pinned_array(1000, dtype=np.int32)
host[:] = range(1000)
with stream.auto_synchronize():
    array = cuda.to_device(host, stream=stream)
    increment[8, 128, stream](array)
    _ = array.copy_to_host(host, stream=stream)
host[:3], host[-1]
streams = [cuda.default_stream(), cuda.per_thread_default_stream(), cuda.external_stream(0)]
for each in streams:
    increment[8, 128, each](array)
cuda.synchronize()
array[:3].copy_to_host()
# Fields of structures.
records = np.array([(3, 0), (5, 0)], [("count", "i8"), ("share", "f8")])
on_device = cuda.to_device(records)
halve[1, 32](on_device)
on_device.copy_to_host()
# The memory of the host itself.
mapped = cuda.mapped_array(3)
mapped[:] = 1
increment[1, 32](mapped)
ordinary = np.zeros(1000)
with cuda.mapped(ordinary) as on_device:
    increment[8, 128](on_device)
mapped.tolist(), ordinary.sum()
