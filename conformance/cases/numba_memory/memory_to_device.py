# Arrays go to the device by Numba's function, into a new array or into one that is there.
# shows: additions, Numba's memory API
#   pyarrow_cuda_compat.memory.to_device: from the host, a record or a scalar too, with Numba's
#     refusals
#   pyarrow_cuda_compat.memory.to_device: arrays of a device, of Arrow and of other libraries too,
#     are not copied
#   pyarrow_cuda_compat.memory.is_cuda_array: whether an object says that it is on a device
#   pyarrow_cuda_compat.memory.as_cuda_array: a view of any library's array
#   pyarrow_cuda_compat.memory.from_cuda_array_interface: a view of what an interface describes
import numpy as np
import pyarrow as pa
from pyarrow import cuda

from pyarrow_cuda_compat import memory

host = np.arange(6).reshape(2, 3)
array = memory.to_device(obj=host)
(array.shape, array.strides, array.copy_to_host())
memory.to_device(np.asfortranarray(host)).strides
memory.to_device(np.broadcast_to(np.arange(3), (2, 3))).strides
memory.to_device(7).copy_to_host()
record = np.array([(1, 0.5)], [("count", "i4"), ("share", "f8")])[0]
memory.to_device(record).item()
memory.to_device(host, copy=False).shape
# Into an array that is there.
memory.to_device(host * 2, to=array) is array
memory.to_device(host * 3, copy=False, to=array) is array
array.copy_to_host()
# On a stream.
stream = memory.stream()
with stream.auto_synchronize():
    queued = memory.to_device(memory.pinned_array_like(host), stream=stream)

queued.shape
# Memory that lies on a device already is not copied.
memory.to_device(array) is array
column = pa.array([1, 2, 3]).copy_to(cuda.Context(0).memory_manager)
memory.to_device(column).address == column.buffers()[1].address
memory.is_cuda_array(obj=array), memory.is_cuda_array(host)
memory.as_cuda_array(array, sync=True).address == array.address
interface = array.__cuda_array_interface__
memory.from_cuda_array_interface(desc=interface, owner=array, sync=False).shape
# What Numba refuses.
memory.to_device(host[:, ::2])
memory.as_cuda_array(host)
memory.from_cuda_array_interface({**interface, "mask": array})
memory.to_device(np.arange(3), to=array)
