# Functions that Numba has compiled for the host take SmartArrays, and return them.
# needs: numba.cuda
# shows: additions, SmartArray
#   pyarrow_cuda_compat.SmartArray: functions compiled for the host take and return it, and mark it
import numba
import numpy as np

from pyarrow_cuda_compat import SmartArray


@numba.njit
def same(array):
    return array


@numba.njit
def part(array, key):
    return array[key]


@numba.njit
def set_first(array, value):
    array[0] = value


array = SmartArray(np.int32([42, 8, -5]))
same(array) is array
part(array, 1)
tail = part(array, slice(1, None))
(type(tail), tail)
# They mark the host's side as changed.
array.get("gpu").fill(1)
array.mark_changed("gpu")
set_first(tail, 7)
array.get("gpu").copy_to_host()
