# A reset of PyGPU's current device destroys what is on it; what is made afterwards works.
# shows: pygpu, Pointers and error codes
#   PyGPU.DeviceArray_int64.last_status: the error code of the array's last call of the device
import ctypes
import re

import numpy as np
from pyarrow import cuda

import pyarrow_cuda_compat.pygpu as gpuarray

k = np.array([1, 2, 3])
da, event = gpuarray.DeviceArray_int64(k), gpuarray.cudaEvent_t()
da.allocate(), da.to_device(), da.last_status(), gpuarray.cudaEventRecord(event)
driver = ctypes.CDLL(re.search(r"/\S*libcuda(_sim)?\.so\S*", open("/proc/self/maps").read())[0])
current = ctypes.c_void_p()
driver.cuCtxSetCurrent(ctypes.c_void_p(cuda.Context(0).handle))
gpuarray.cudaDeviceReset(), gpuarray.cudaGetDevice()
# The thread does not keep the context that is gone.
driver.cuCtxGetCurrent(ctypes.byref(current)), current.value
# Each error is a status, which the array keeps; nothing is read or written.
da.to_host(), da.last_status(), gpuarray.cudaGetErrorName(da.last_status())
da.set(np.array([7, 8, 9])), k, gpuarray.cudaEventRecord(event)
gpuarray.cudaEventSynchronize(event)
# On the same device, anew.
gpuarray.cudaDeviceSynchronize(), da.last_status()
da = gpuarray.DeviceArray_int64(np.array([4, 5, 6]))
(da.allocate(), da.to_device(), da.last_status())
k_gpu = gpuarray.to_gpu(k)
k_gpu.get(), k_gpu.last_status, gpuarray.cudaEventRecord(gpuarray.cudaEvent_t())
