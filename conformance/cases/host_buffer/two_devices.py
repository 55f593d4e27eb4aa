# Page-locked memory is reached by every device, whichever one allocates it.
# needs: two devices
# shows: pyarrow_cuda
#   HostBuffer: every device can access the memory
#   new_host_buffer(device): the driver reports that device for the memory
import ctypes
import re

import pyarrow as pa
from pyarrow import cuda

first, second = cuda.Context(0), cuda.Context(1)
for number in range(2):
    buf = cuda.new_host_buffer(5, device=number)
    print(pa.BufferReader(b"reach").readinto(buf))
    print([ctx.buffer_from_object(buf).to_pybytes() for ctx in (first, second)])
    print([ctx.get_device_address(buf.address) == buf.address for ctx in (first, second)])
# Its own device is the one that was asked for: the driver's attribute 9.
driver = ctypes.CDLL(re.search(r"/\S*libcuda(_sim)?\.so\S*", open("/proc/self/maps").read())[0])
driver.cuCtxSetCurrent(ctypes.c_void_p(first.handle))


def ordinal(buf):
    found = ctypes.c_int(-1)
    code = driver.cuPointerGetAttribute(ctypes.byref(found), 9, ctypes.c_uint64(buf.address))
    return code, found.value


[ordinal(cuda.new_host_buffer(5, device=number)) for number in (0, 1, 0)]
[ordinal(cuda.new_host_buffer(5)), ordinal(cuda.new_host_buffer(5, 1))]
driver.cuCtxSetCurrent(None)
