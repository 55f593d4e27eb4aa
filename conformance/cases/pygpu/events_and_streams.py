# PyGPU's events and streams: their constructors create them, and events are recorded on the device.
# shows: pygpu, Control the device context
#   PyGPU.cudaEvent_t: the constructor creates an event
#   PyGPU.cudaStream_t: the constructor creates a stream
#   PyGPU.cudaEventRecord: records an event on the device
import ctypes
import math
import re

import pyarrow_cuda_compat.pygpu as gpuarray

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
gpuarray.cudaEventRecord(start)
gpuarray.cudaEventSynchronize(start)
# An event without timing; flags that CUDA does not have.
gpuarray.cudaEvent_t(2).last_status()
gpuarray.cudaEvent_t(8).last_status()
int(gpuarray.cudaEvent_t(8).get())
