# The handle is the driver's: that of the device's primary context.
# shows: pyarrow_cuda
#   Context.handle: the driver's handle of the context, as an int; cannot be set
import ctypes
import re

from pyarrow import cuda

ctx = cuda.Context()
ctx.handle > 0
type(ctx.handle)
driver = ctypes.CDLL(re.search(r"/\S*libcuda(_sim)?\.so\S*", open("/proc/self/maps").read())[0])
primary = ctypes.c_void_p()
driver.cuDevicePrimaryCtxRetain(ctypes.byref(primary), 0)
primary.value == ctx.handle
driver.cuDevicePrimaryCtxRelease_v2(0)
ctx.buffer_from_data(b"x").context.handle == ctx.handle
cuda.Context(0).handle == ctx.handle
ctx.handle = 1
