# The number of devices is the driver's, and as many contexts can be had.
# shows: pyarrow_cuda
#   Context.get_num_devices: the number of devices, as an int, without a context
#   Context.device_number: each device's context returns its own number
import ctypes
import re

from pyarrow import cuda

count = cuda.Context.get_num_devices()
type(count)
count >= 1
driver = ctypes.CDLL(re.search(r"/\S*libcuda(_sim)?\.so\S*", open("/proc/self/maps").read())[0])
counted = ctypes.c_int()
driver.cuDeviceGetCount(ctypes.byref(counted))
counted.value == count
contexts = [cuda.Context(number) for number in range(count)]
[ctx.device_number for ctx in contexts] == list(range(count))
len({ctx.handle for ctx in contexts}) == count
contexts[0].get_num_devices() == count
