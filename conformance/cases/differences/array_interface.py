# The stream, mask and read-only flag of an array's interface are heeded.
# shows: pyarrow_cuda
#   Context.buffer_from_object: comes after work on the stream that the interface names: a handle,
#     or 1 and 2 for the default streams
import ctypes
import re

from pyarrow import cuda


class Array:
    def __init__(self, buffer, **more):
        self.buffer = buffer
        self.__cuda_array_interface__ = {
            "shape": (buffer.size,),
            "typestr": "|u1",
            "data": (buffer.address, False),
            "version": 3,
        } | more


ctx = cuda.Context()
memory = ctx.buffer_from_data(b"0123456789")
ctx.buffer_from_object(Array(memory, data=(memory.address, True))).is_mutable
ctx.buffer_from_object(Array(memory, mask=Array(memory)))
ctx.buffer_from_object(Array(memory, stream=0))
ctx.buffer_from_object(Array(memory, shape=(11,)))
ctx.buffer_from_object(Array(memory, shape=(-1,)))
ctx.buffer_from_object(Array(memory, strides=(1, 1)))
ctx.buffer_from_object(Array(memory, data=(None, False)))
# Work on a stream that nothing else waits for.
driver = ctypes.CDLL(re.search(r"/\S*libcuda(_sim)?\.so\S*", open("/proc/self/maps").read())[0])
driver.cuCtxSetCurrent(ctypes.c_void_p(ctx.handle))
stream = ctypes.c_void_p()
driver.cuStreamCreate(ctypes.byref(stream), 1)
# It is busy for 200 ms with a function of the C library, before it fills the memory.
driver.cuLaunchHostFunc(stream, ctypes.CDLL(None).usleep, ctypes.c_void_p(200_000))
at, count = ctypes.c_uint64(memory.address), ctypes.c_size_t(10)
driver.cuMemsetD8Async(at, ctypes.c_ubyte(ord("!")), count, stream)
ctx.buffer_from_object(Array(memory, stream=stream.value)).to_pybytes()
driver.cuStreamQuery(stream)
# Stream 2 is the default stream of the calling thread, also for the driver.
own = ctypes.c_void_p(2)
driver.cuLaunchHostFunc(own, ctypes.CDLL(None).usleep, ctypes.c_void_p(200_000))
driver.cuMemsetD8Async(at, ctypes.c_ubyte(ord("?")), count, own)
view = ctx.buffer_from_object(Array(memory, stream=2))
# A stream that waits for no other one reads what is there now.
read = ctypes.create_string_buffer(10)
driver.cuMemcpyDtoHAsync_v2(read, at, count, stream)
driver.cuStreamSynchronize(stream)
(read.raw, view.to_pybytes())
