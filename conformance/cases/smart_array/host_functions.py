# Functions that Numba has compiled for the host take SmartArrays, and return them.
# needs: numba.cuda
# shows: additions, SmartArray
#   pyarrow_cuda_compat.SmartArray: functions compiled for the host take and return it, and mark it
import sys
import weakref

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
same(array) is array, part(array, 1)
tail = part(array, slice(1, None))
(type(tail), tail)
# They mark the host's side as changed.
array.get("gpu").fill(1)
array.mark_changed("gpu")
set_first(tail, 7)
array.get("gpu").copy_to_host()
# What they compute anew is a SmartArray, too.
double = numba.njit(lambda array: array * 2)
double(tail)


def used():
    """An array, its data and what the functions have returned, as long as somebody has them."""
    array = SmartArray(np.zeros(3))
    results = same(array), part(array, slice(2)), double(array)
    return [weakref.ref(each) for each in (array, array.get(), *results)]


# Afterwards nobody does.
[each() for each in used()]


# Where the data cannot come to the host, the call fails; a failure after the call is reported.
def fail(self, where="host"):
    raise OSError("no device")


lost, unmarked = (type("Broken", (SmartArray,), {it: fail}) for it in ("get", "mark_changed"))
set_first(lost(np.zeros(3)), 7)
sys.unraisablehook = lambda report: print(report.exc_value, report.object)
set_first(unmarked(np.zeros(3)), 7)
