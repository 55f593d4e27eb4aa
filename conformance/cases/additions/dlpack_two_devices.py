# A tensor says which device it lies on, and is copied to another one when that is asked for.
# needs: two devices
# shows: additions, DLPack
#   CudaBuffer.__dlpack__(dl_device): on another device, which requires a copy
#   from_dlpack(device): where the array must lie
import numpy as np
from pyarrow import cuda

from pyarrow_cuda_compat import DeviceArray, from_dlpack

first, second = cuda.Context(0), cuda.Context(1)
buf = second.buffer_from_data(np.arange(4, dtype=np.int16))
buf.__dlpack_device__()
theirs = type("Theirs", (), {"__cuda_array_interface__": buf.__cuda_array_interface__})
view = from_dlpack(DeviceArray(buf, "<i2", (2, 2)))
(view.address - buf.address, view.context.device_number, DeviceArray(theirs).context == second)
# To the other device.
copied = from_dlpack(buf, device=first)
(copied.context.device_number, copied.copy_to_host().view(np.int16))
from_dlpack(buf.__dlpack__(dl_device=(2, 0))).context.device_number
from_dlpack(buf, device=second).address - buf.address
# Not without a copy.
from_dlpack(buf, device=first, copy=False)
buf.__dlpack__(dl_device=(2, 0), copy=False)
