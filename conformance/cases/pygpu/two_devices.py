# PyGPU's arrays, streams and events are on the device that is current when they are made.
# needs: two devices
# shows: pygpu, Control the device context
#   PyGPU.cudaSetDevice: selects the current device by its number
import ctypes
import re

import numpy as np
from pyarrow import cuda

import pyarrow_cuda_compat.pygpu as gpuarray
from pyarrow_cuda_compat import memory

contexts = cuda.Context(0), cuda.Context(1)
[context.bytes_allocated for context in contexts], gpuarray.cudaSetDevice(1)
gpuarray.cudaGetDevice()
array = gpuarray.to_gpu(np.arange(4.0))
[context.bytes_allocated for context in contexts]
event = gpuarray.cudaEvent_t()
gpuarray.cudaEventRecord(event, gpuarray.cudaStream_t())
# The array stays there, and copies go on working.
gpuarray.cudaSetDevice(0), array.set_val(0, 9), array.get()
[context.bytes_allocated for context in contexts]
# An event is for streams of its device.
gpuarray.cudaEventRecord(event, gpuarray.cudaStream_t())
gpuarray.cudaGetErrorName(gpuarray.cudaGetLastError())
# A slice's copy goes to the current device.
part = array[1:3]
part.get(), [context.bytes_allocated for context in contexts]
(memory.select_device(1).device_number, memory.device_array(2).context.device_number)
kept = contexts[0].buffer_from_data(b"kept")
gpuarray.cudaDeviceProp(0).uuid() == gpuarray.cudaDeviceProp(1).uuid()
gpuarray.cudaSetDevice(1), gpuarray.cudaDeviceReset(), kept.to_pybytes()
# The thread's choice holds also where another library leaves no context current.
driver = ctypes.CDLL(re.search(r"/\S*libcuda(_sim)?\.so\S*", open("/proc/self/maps").read())[0])
_ = gpuarray.cudaSetDevice(1), driver.cuCtxSetCurrent(None)
gpuarray.cudaGetDevice()
