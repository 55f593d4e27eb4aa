# Data is copied when it is asked for on one side and has changed on the other one.
# shows: additions, SmartArray
#   pyarrow_cuda_compat.SmartArray: adopts arrays of the host and of the device, and refuses what
#     cannot be on a device
#   pyarrow_cuda_compat.SmartArray.mark_changed: refreshes the other side at once while somebody
#     refers to it
# shows: numba_memory, SmartArrays
#   numba.SmartArray: made of an object, with or without a copy, or of shape and type, here or there
#   numba.SmartArray(obj): the object that it is made of
#   numba.SmartArray(copy): whether to copy that object
#   numba.SmartArray(shape): the shape, without an object
#   numba.SmartArray(dtype): the type of the items
#   numba.SmartArray(order): row-major or column-major order
#   numba.SmartArray(where): on the host or on the device
#   numba.SmartArray: an array that moves between host and device automatically
#   numba.SmartArray.get: the data, on the requested side
#   numba.SmartArray.get(where): the side, the host's by default
#   numba.SmartArray.mark_changed: says that the data was changed on one side
#   numba.SmartArray.mark_changed(where): the side, the host's by default
import numpy as np
import pyarrow as pa
from pyarrow import cuda

from pyarrow_cuda_compat import SmartArray, memory

# A SmartArray is made of an object, or of a shape and a dtype, on either side.
host = np.array([1.5, 2.5])
array = SmartArray(obj=host, copy=True)
array, np.shares_memory(array.get(), host), SmartArray(host, copy=False).get() is host
SmartArray([1, 2, 3], where="gpu").get(where="gpu").copy_to_host()
on_device = memory.to_device(host)
SmartArray(on_device, copy=False).get("gpu").address == on_device.address
made = SmartArray(shape=(2, 3), dtype="i4", order="F", where="gpu")
(made.shape, made.strides, made.dtype, made.ndim, made.size, made.itemsize, made.nbytes, len(made))
made.get("gpu").strides, SmartArray(on_device).get("gpu").address == on_device.address
SmartArray([[1, 2], [3, 4]], dtype="f4", order="F").strides
SmartArray([[1, 2], [3, 4]], order="F", where="gpu").strides
# Arguments that it refuses.
SmartArray()
SmartArray(shape=3)
SmartArray(host, where="device")
SmartArray(host, shape=3)
SmartArray(["text"])
SmartArray(np.ones((4, 4))[:, ::2], copy=False)
# Arrow arrays on a device are viewed by another class.
try:
    SmartArray(pa.array([1, 2]).copy_to(cuda.Context()))
except TypeError as error:
    print(error)

# The data goes to the side that asks for it.
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
