# A kernel finds the data of a SmartArray on the device, and leaves it there.
# needs: gpu, numba kernels
# shows: numba_memory, SmartArrays
#   numba.SmartArray: stands in for NumPy's arrays, in compiled functions of the host and of the
#     device
#   numba.SmartArray: a kernel's launch transfers the data only when it is not on the device yet
#   numba.SmartArray: the data stays on the device after a kernel, and is copied to the host when
#     the host accesses it
import warnings

import numba.cuda
import numpy as np

from pyarrow_cuda_compat import SmartArray, memory

# Numba finds so few blocks worth a warning.
warnings.simplefilter("ignore")


@numba.cuda.jit
def increment(array):
    place = numba.cuda.grid(1)
    if place < array.size:
        array[place] += 1


array = SmartArray(np.zeros(3))
increment[1, 32](array)
on_device = array.get("gpu")
# The next one finds it there.
on_device[0] = 10
increment[1, 32](array)
array
# An array that somebody refers to shows what a kernel has computed, on any stream.
held = array.get()
increment[1, 32](array)
held
increment[1, 32, memory.stream()](array[1:])
held
array[0] = 0
increment[1, 32](array)
held
# Compiled functions of the host in between.
same = numba.njit(lambda array: array)
same(array) is array
