# Work that is queued on the device is waited for where others could not know of it.
# shows: additions, DLPack
#   CudaBuffer.__dlpack__(stream): the consumer's stream sees the work queued on the default stream
#   from_dlpack: copies run after the work queued on the device
# shows: additions, CUDA array interface
#   CudaBuffer.__cuda_array_interface__: waits for queued work, because some consumers do not
#   Context.buffer_from_object: interfaces before version 3 do not name a stream, so the package
#     waits for all streams
#   Context.buffer_from_object: arrays with block_until_ready (JAX) are asked to queue their work,
#     and then the package waits for it
import ctypes
import re

import numpy as np
from pyarrow import cuda

from pyarrow_cuda_compat import DeviceArray, from_dlpack

ctx = cuda.Context(0)
driver = ctypes.CDLL(re.search(r"/\S*libcuda(_sim)?\.so\S*", open("/proc/self/maps").read())[0])
driver.cuCtxSetCurrent(ctypes.c_void_p(ctx.handle))
buf = ctx.new_buffer(4)


def fill(text, stream=None):
    """Queues a fill behind a function of the C library that takes 200 ms."""
    driver.cuLaunchHostFunc(stream, ctypes.CDLL(None).usleep, ctypes.c_void_p(200_000))
    at, count = ctypes.c_uint64(buf.address), ctypes.c_size_t(buf.size)
    driver.cuMemsetD8Async(at, ctypes.c_ubyte(ord(text)), count, stream)


# Copies come after what is queued on the default stream, whatever the consumer's stream is.
fill("a")
np.from_dlpack(buf, device="cpu").tobytes()
fill("b")
from_dlpack(buf.__dlpack__(copy=True, stream=-1)).buffer.to_pybytes()
fill("c")
from_dlpack(buf, copy=True).buffer.to_pybytes()
# Another stream need not wait for the default one, so it gets the tensor when nothing is pending;
# The driver answers 0.
fill("d")
_ = buf.__dlpack__(stream=123456)
driver.cuStreamQuery(None)
# There are consumers of the array interface who wait for no stream.
fill("e")
_ = buf.__cuda_array_interface__
driver.cuStreamQuery(None)
fill("f")
_ = DeviceArray(buf, "|u1", (2, 2)).__cuda_array_interface__
driver.cuStreamQuery(None)
# Streams are never 0, which would say nothing, nor negative but for -1: no stream at all.
buf.__dlpack__(stream=0)
buf.__dlpack__(stream=-2)


# Before version 3 the array interface told no stream: what is pending on any is waited for.
class Old:
    __cuda_array_interface__ = buf.__cuda_array_interface__ | {"version": 2}


own = ctypes.c_void_p()
driver.cuStreamCreate(ctypes.byref(own), 1)
fill("g", own)
view = ctx.buffer_from_object(Old())
driver.cuStreamQuery(own)
view.to_pybytes()
# Nor does a capsule.
capsule = buf.__dlpack__()
fill("i", own)
_ = from_dlpack(capsule)
driver.cuStreamQuery(own)


# JAX queues work on threads of its own: its arrays are asked to have it queued first.
class Lazy(Old):
    def block_until_ready(self):
        fill("h", own)


ctx.buffer_from_object(Lazy()).to_pybytes()
