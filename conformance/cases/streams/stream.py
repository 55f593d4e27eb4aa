# A stream is made, named to other libraries, asked whether its work is done, and waited for.
# shows: additions, The package
#   Context: a device's number stands for its context where only this package takes one
# shows: additions, Streams
#   Stream: a queue of work beside the default stream
#   Stream(context): where the work runs; the first device by default
#   Stream.context: the context that it belongs to
#   Stream.handle: the driver's handle
#   Stream.__cuda_stream__: how other libraries accept it
#   Stream.query: whether all queued work is complete
#   Stream.synchronize: waits for all queued work
#   CudaBuffer.fill(stream): on a stream, returning at once
import ctypes
import re

from pyarrow import cuda

from pyarrow_cuda_compat import Stream

ctx = cuda.Context(0)
driver = ctypes.CDLL(re.search(r"/\S*libcuda(_sim)?\.so\S*", open("/proc/self/maps").read())[0])
_ = driver.cuCtxSetCurrent(ctypes.c_void_p(ctx.handle))
libc, semaphore = ctypes.CDLL(None), ctypes.create_string_buffer(64)
_ = libc.sem_init(semaphore, 0, 0)
# Without a context it is one of the first device.
Stream().context.device_number
stream, other = Stream(context=ctx, non_blocking=True), Stream(ctx)
(stream.context.handle == ctx.handle, stream.handle != other.handle)
# Other libraries take it by the protocol's version and the handle.
stream.__cuda_stream__() == (0, stream.handle)
(stream.query(), other.query())
# The stream waits for the semaphore; work on it is queued.
buf = ctx.buffer_from_data(b"....")
_ = driver.cuLaunchHostFunc(ctypes.c_void_p(stream.handle), libc.sem_wait, semaphore)
buf.fill(ord("x"), stream=stream)
(stream.query(), other.query(), buf.to_pybytes())
_ = libc.sem_post(semaphore)
stream.synchronize()
(stream.query(), buf.to_pybytes())
# A device's number stands for its context.
Stream(0).context == ctx
# Refused: what is no context, and options by their place.
Stream("0")
Stream(ctx, True)
