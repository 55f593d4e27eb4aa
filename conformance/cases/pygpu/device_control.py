# PyGPU's functions choose and name the current device, in its primary context.
# shows: pygpu, Control the device context
#   PyGPU: it works in the device's primary context
#   PyGPU.cudaSetDevice: returns the error code: success for a device that exists
#   PyGPU.cudaGetDevice: the number of the current device, with the error code
#   PyGPU.cudaEvent_t: the constructor creates an event
#   PyGPU.cudaStream_t: the constructor creates a stream
#   PyGPU.cudaEventRecord: records an event on the device
import ctypes
import math
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
current.value == cuda.Context(0).handle, gpuarray.cudaDeviceSynchronize()
# The last device, which may be the first.
gpuarray.cudaSetDevice(count - 1)
gpuarray.cudaGetDevice() == (count - 1, gpuarray.cudaError_t(0))
driver.cuCtxGetCurrent(ctypes.byref(current))
current.value == cuda.Context(count - 1).handle
# A number without a device is refused, and the current device stays.
gpuarray.cudaSetDevice(count), gpuarray.cudaSetDevice(-1)
gpuarray.cudaGetDevice()[0] == count - 1
# The properties of a device.
properties = gpuarray.cudaDeviceProp(0)
(len(properties.name()) > 0, len(properties.uuid()), properties.get()["warpSize"])
properties.last_status(), gpuarray.cudaDeviceProp(count).last_status()

# PyGPU's events and streams: their constructors create them, and events are recorded on the device.
start, end = gpuarray.cudaEvent_t(), gpuarray.cudaEvent_t()
stream = gpuarray.cudaStream_t(1)
(start.last_status(), end.last_status(), stream.last_status())
# Created: the driver has a handle of each, and they are different ones.
len({int(each.get()) for each in (start, end, stream)} - {0})
path = re.search(r"/\S*libcuda(_sim)?\.so\S*", open("/proc/self/maps").read())[0]
driver, libc = ctypes.CDLL(path), ctypes.CDLL(None)
# 0 from the driver: no work is left on the stream.
driver.cuStreamQuery(stream.get())
# There is no time before they are recorded: an invalid resource handle.
elapsed, err = gpuarray.cudaEventElapsedTime(start, end)
(math.isnan(elapsed), err)
# The stream waits for the semaphore, and so does the event behind that.
semaphore = ctypes.create_string_buffer(64)
_ = libc.sem_init(semaphore, 0, 0)
gpuarray.cudaEventRecord(start, stream)
_ = driver.cuLaunchHostFunc(stream.get(), libc.sem_wait, semaphore)
_ = driver.cuLaunchHostFunc(stream.get(), libc.usleep, ctypes.c_void_p(20_000))
gpuarray.cudaEventRecord(end, stream)
# 600: not ready.
gpuarray.cudaEventElapsedTime(start, end)[1]
(driver.cuEventQuery(end.get()), driver.cuStreamQuery(stream.get()))
_ = libc.sem_post(semaphore)
gpuarray.cudaEventSynchronize(end)
(driver.cuEventQuery(end.get()), driver.cuStreamQuery(stream.get()))
elapsed, err = gpuarray.cudaEventElapsedTime(start, end)
(elapsed > 19, err)
# On the default stream.
gpuarray.cudaEventRecord(start), gpuarray.cudaEventSynchronize(start)
# An event without timing; flags that CUDA does not have.
gpuarray.cudaEvent_t(2).last_status(), gpuarray.cudaEvent_t(8).last_status()
int(gpuarray.cudaEvent_t(8).get())
