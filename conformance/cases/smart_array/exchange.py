# Other libraries get the data on the device, and may change it.
# shows: additions, SmartArray
#   pyarrow_cuda_compat.SmartArray: other libraries get the data on the device
import numpy as np

from pyarrow_cuda_compat import DeviceArray, SmartArray, from_dlpack, memory

array = SmartArray(np.zeros(3))
from_dlpack(array)[0] = 1
array
memory.as_cuda_array(array)[1] = 2
array
DeviceArray(array)[2] = 3
array
array.__dlpack_device__()
