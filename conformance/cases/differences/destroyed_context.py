# A context that its maker destroys takes its buffers along; dropping them ends nothing.
import ctypes
import gc
import re
import sys

from pyarrow import cuda

sys.unraisablehook = lambda failure: print("reported:", failure.exc_value)
primary = cuda.Context()
driver = ctypes.CDLL(re.search(r"/\S*libcuda(_sim)?\.so\S*", open("/proc/self/maps").read())[0])
made = ctypes.c_void_p()
driver.cuCtxCreate_v2(ctypes.byref(made), 0, 0)
driver.cuCtxPopCurrent_v2(ctypes.byref(ctypes.c_void_p()))
ctx = cuda.Context(0, made.value)
buf = ctx.buffer_from_data(b"0123456789")
reader = cuda.BufferReader(buf)
driver.cuCtxDestroy_v2(made)
for call in (
    buf.to_pybytes,
    reader.read,
    lambda buf=buf: buf.copy_from_host(b"x"),
    buf.export_for_ipc,
):
    try:
        call()
    except OSError as error:
        print(str(error).startswith("Cuda error 201 "))
(buf.size, buf.slice(3).size)
cuda.Context(0, made.value)
del buf, reader
_ = gc.collect()
primary.buffer_from_data(b"goes on").to_pybytes()
