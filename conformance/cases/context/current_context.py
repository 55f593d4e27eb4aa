# No call changes which context is current on the calling thread.
# shows: pyarrow_cuda
#   Context: the calling thread's current context stays current
import ctypes
import re

from pyarrow import cuda

ctx = cuda.Context()
driver = ctypes.CDLL(re.search(r"/\S*libcuda(_sim)?\.so\S*", open("/proc/self/maps").read())[0])


def current():
    handle = ctypes.c_void_p()
    driver.cuCtxGetCurrent(ctypes.byref(handle))
    return handle.value


# None was, and none is.
buf = ctx.buffer_from_data(b"0123456789")
current() is None
own = ctypes.c_void_p()
driver.cuCtxCreate_v2(ctypes.byref(own), 0, 0)
current() == own.value
ctx.new_buffer(100).copy_from_device(buf)
buf.to_pybytes()
cuda.BufferWriter(buf).writeat(2, b"XY")
buf.equals(ctx.buffer_from_data(b"01XY456789"))
cuda.new_host_buffer(8).size
ctx.synchronize()
ctx.foreign_buffer(1, 1)
del buf
current() == own.value
driver.cuCtxDestroy_v2(own)
