# Arrays on the device by Numba's functions, with its parameters, defaults and words.
# shows: additions, Numba's memory API
#   pyarrow_cuda_compat.memory.device_array: Numba's function, for device arrays
#   pyarrow_cuda_compat.memory.device_array_like: like an array of the host or of a device, in its
#     order
#   pyarrow_cuda_compat.memory.select_device: the device of the calling thread
#   pyarrow_cuda_compat.memory.synchronize: waits for the work of the current context
import numpy as np

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
memory.select_device(device_id=0).device_number
memory.current_context().device_number
with memory.defer_cleanup():
    del array

memory.synchronize()
