# Arrays on the device by Numba's functions, with its parameters, defaults and words.
# shows: additions, Numba's memory API
#   pyarrow_cuda_compat.memory.device_array: Numba's function, for device arrays
#   pyarrow_cuda_compat.memory.device_array_like: like an array of the host or of a device, in its
#     order
#   pyarrow_cuda_compat.memory.select_device: the device of the calling thread
#   pyarrow_cuda_compat.memory.synchronize: waits for the work of the current context
#   pyarrow_cuda_compat.memory.to_device: from the host, a record or a scalar too, with Numba's
#     refusals
#   pyarrow_cuda_compat.memory.to_device: arrays of a device, of Arrow and of other libraries too,
#     are not copied
#   pyarrow_cuda_compat.memory.is_cuda_array: whether an object says that it is on a device
#   pyarrow_cuda_compat.memory.as_cuda_array: a view of any library's array
#   pyarrow_cuda_compat.memory.from_cuda_array_interface: a view of what an interface describes
#   pyarrow_cuda_compat.memory.DeviceNDArray: the constructor of the Numba class
#   DeviceArray.to_host: copies to the array that DeviceNDArray was given for it
#   DeviceArray.to_host(stream): a stream to copy on
# shows: numba_memory, Device arrays
#   numba.cuda.cudadrv.devicearray.DeviceNDArray(writeback): the host array to write back to; none
#     by default
import numpy as np
import pyarrow as pa
from pyarrow import cuda

from pyarrow_cuda_compat import DeviceArray, memory

array = memory.device_array(3)
isinstance(array, DeviceArray), array.shape, array.dtype
memory.device_array(shape=(2, 3), dtype="i4", order="F", stream=0).strides
memory.device_array((2, 3), dtype="i4", strides=(64, 4)).strides
memory.device_array(3, strides=(-8,)).strides
# Like another array, on the host or on a device: in its order, without its gaps.
memory.device_array_like(np.ones((2, 3), order="F")).strides
memory.device_array_like(ary=np.ones((4, 6))[::2, ::2], stream=memory.stream()).strides
memory.device_array_like(np.ones((2, 3, 4)).transpose(1, 0, 2)[:, :, ::2]).strides
memory.device_array_like(memory.device_array((2, 3), "c16").T).strides
# What Numba refuses.
memory.device_array(2.0)
memory.device_array((2, 3), strides=(8,))
memory.device_array((2, 3), order="K")
memory.device_array((-1,))
# The device of the calling thread.
memory.select_device(device_id=0).device_number, memory.current_context().device_number
with memory.defer_cleanup():
    del array
memory.synchronize()

# Arrays go to the device by Numba's function, into a new array or into one that is there.
host = np.arange(6).reshape(2, 3)
array = memory.to_device(obj=host)
(array.shape, array.strides, array.copy_to_host())
memory.to_device(np.asfortranarray(host)).strides
memory.to_device(np.broadcast_to(np.arange(3), (2, 3))).strides
memory.to_device(7).copy_to_host()
record = np.array([(1, 0.5)], [("count", "i4"), ("share", "f8")])[0]
memory.to_device(record).item(), memory.to_device(host, copy=False).shape
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

# A device array that knows an array of the host to copy its elements back to.
host = np.zeros((2, 3))
array = memory.DeviceNDArray(
    shape=host.shape, strides=host.strides, dtype=host.dtype, stream=0, writeback=host
)
array.fill(1.5)
host
array.to_host()
host
array[0] = 7
array.to_host(stream=memory.stream())
memory.synchronize()
host
# None by default, and none for views.
memory.DeviceNDArray(3, 8, "f8").to_host()
array[0].to_host()
# Over memory that is there.
memory.DeviceNDArray((6,), (8,), "f8", gpu_data=array.buffer).copy_to_host()
memory.DeviceNDArray((6,), (8, 8), "f8")
