# Scalars, arrays of the host and of the device are assigned as in NumPy.
# shows: additions, Device arrays
#   DeviceArray.__setitem__: scalars, arrays of the host and of the device are broadcast and
#     assigned
#   DeviceArray.copy_to_device: copies an array of the host or of the device into the array
#   DeviceArray.fill: sets every element
import numpy as np

from pyarrow_cuda_compat import DeviceArray

array = DeviceArray.from_host(np.zeros((3, 4)))
array[0] = 1
array[1, ::2] = [5, 6]
array[:, 3] = DeviceArray.from_host([7.0, 8.0, 9.0])
array.copy_to_host()
# Parts that overlap.
array[1:] = array[:-1]
array.copy_to_host()
# One row for all, and one column for all.
array[...] = np.arange(4)
array[:, :2] = [[1], [2], [3]]
array.copy_to_host()
array.fill(0.5)
array.copy_to_host()[2]
array.copy_to_device(np.full((3, 4), 2.0))
array[1, 2].item()
# Values that do not fit change nothing.
array[0] = [1, 2, 3]
array[0] = DeviceArray.from_host(np.arange(4))
array[0] = np.zeros((2, 4))
array[:0] = [1, 2, 3]
array.copy_to_device(np.zeros(4))
array["a"] = 1
array.copy_to_host().sum()
row = DeviceArray.from_host(np.arange(8))
row.reshape(2, 4)[:, 2:] = row[:4].reshape(2, 2)
row[:3] = row[1:2]
row.copy_to_host()
DeviceArray(array.buffer, "f8", (2, 2), (0, 8))[...] = [[1, 2], [3, 4]]
