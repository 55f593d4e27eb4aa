# Data is copied when it is asked for on one side and has changed on the other one.
# shows: additions, SmartArray
#   pyarrow_cuda_compat.SmartArray.mark_changed: refreshes the other side at once while somebody
#     refers to it
# shows: numba_memory, SmartArrays
#   numba.SmartArray: an array that moves between host and device automatically
#   numba.SmartArray.get: the data, on the requested side
#   numba.SmartArray.get(where): the side, the host's by default
#   numba.SmartArray.mark_changed: says that the data was changed on one side
#   numba.SmartArray.mark_changed(where): the side, the host's by default
import numpy as np

from pyarrow_cuda_compat import SmartArray

array = SmartArray(np.zeros(3))
array.get(where="gpu").fill(1)
# Nobody has said that the device has changed it.
array.get()
array.mark_changed(where="gpu")
array.get()
array[0] = 7
array.get("gpu").copy_to_host()
# The same by the older names.
array.gpu().fill(2)
array.gpu_changed()
array.host()
array.host()[1] = 5
array.host_changed()
array.gpu().copy_to_host()
# An array that somebody refers to shows the change at once.
held = array.get()
part = array[1:].get()
array.get("gpu").fill(3)
array.mark_changed("gpu")
(held, part)
whole = np.zeros(3)
given, constant = SmartArray(whole[:], copy=False), np.zeros(3)
constant.flags.writeable = False
fixed = SmartArray(constant, copy=False)
for smart in (given, fixed):
    smart.get("gpu").fill(4)
    smart.mark_changed("gpu")
(whole, fixed.get(), constant)
for work in ("given.real = [1, 2, 3]", "given.flat[0] = 9", "given += 1"):
    exec(work)
    given.get("gpu").copy_to_host()
np.broadcast_to(given, (2, 3)).get().flags.writeable
# A change says nothing of a side that does not exist.
SmartArray([1, 2], where="gpu").mark_changed("host")
array.get("device")
array.mark_changed("device")
