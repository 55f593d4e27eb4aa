# A SmartArray is made of an object, or of a shape and a dtype, on either side.
# shows: additions, SmartArray
#   pyarrow_cuda_compat.SmartArray: adopts arrays of the host and of the device, and refuses what
#     cannot be on a device
# shows: numba_memory, SmartArrays
#   numba.SmartArray: made of an object, with or without a copy, or of shape and type, here or there
#   numba.SmartArray(obj): the object that it is made of
#   numba.SmartArray(copy): whether to copy that object
#   numba.SmartArray(shape): the shape, without an object
#   numba.SmartArray(dtype): the type of the items
#   numba.SmartArray(order): row-major or column-major order
#   numba.SmartArray(where): on the host or on the device
import numpy as np
import pyarrow as pa
from pyarrow import cuda

from pyarrow_cuda_compat import SmartArray, memory

host = np.array([1.5, 2.5])
array = SmartArray(obj=host, copy=True)
(array, np.shares_memory(array.get(), host))
SmartArray(host, copy=False).get() is host
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
