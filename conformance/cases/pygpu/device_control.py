# PyGPU's functions choose and name the current device, in its primary context.
# shows: pygpu, Control the device context
#   PyGPU: it works in the device's primary context
#   PyGPU.cudaSetDevice: returns the error code: success for a device that exists
#   PyGPU.cudaGetDevice: the number of the current device, with the error code
import ctypes
import re

from pyarrow import cuda

import pyarrow_cuda_compat.pygpu as gpuarray

count, err = gpuarray.cudaGetDeviceCount()
(count == cuda.Context.get_num_devices(), err)
# The first device, before one is chosen.
gpuarray.cudaGetDevice()
idx, err = gpuarray.cudaGetDevice()
idx == 0, err.as_int()
# A call without a result returns its error code.
gpuarray.cudaSetDevice(0)
# The driver sees the device's primary context as the thread's current one.
path = re.search(r"/\S*libcuda(_sim)?\.so\S*", open("/proc/self/maps").read())[0]
driver, current = ctypes.CDLL(path), ctypes.c_void_p()
driver.cuCtxGetCurrent(ctypes.byref(current))
current.value == cuda.Context(0).handle
gpuarray.cudaDeviceSynchronize()
# The last device, which may be the first.
gpuarray.cudaSetDevice(count - 1)
gpuarray.cudaGetDevice() == (count - 1, gpuarray.cudaError_t(0))
driver.cuCtxGetCurrent(ctypes.byref(current))
current.value == cuda.Context(count - 1).handle
# A number without a device is refused, and the current device stays.
gpuarray.cudaSetDevice(count)
gpuarray.cudaSetDevice(-1)
gpuarray.cudaGetDevice()[0] == count - 1
# The properties of a device.
properties = gpuarray.cudaDeviceProp(0)
(len(properties.name()) > 0, len(properties.uuid()), properties.get()["warpSize"])
properties.last_status()
gpuarray.cudaDeviceProp(count).last_status()
