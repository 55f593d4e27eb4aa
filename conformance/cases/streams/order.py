# The default stream waits for a stream or not, as it was made; a stream waits for others if told.
# shows: additions, Streams
#   Stream(non_blocking): whether the default stream is independent of it
#   Stream.wait: delays the work queued afterwards until other work is complete
#   Stream.wait(other): an event, or a stream
import ctypes
import re

from pyarrow import cuda

from pyarrow_cuda_compat import Stream

ctx = cuda.Context(0)
driver = ctypes.CDLL(re.search(r"/\S*libcuda(_sim)?\.so\S*", open("/proc/self/maps").read())[0])
_ = driver.cuCtxSetCurrent(ctypes.c_void_p(ctx.handle))
libc, semaphore = ctypes.CDLL(None), ctypes.create_string_buffer(64)
_ = libc.sem_init(semaphore, 0, 0)
buf, copy = ctx.buffer_from_data(b"...."), ctx.buffer_from_data(b"....")


def hold(stream):
    """Has a stream wait for the semaphore."""
    _ = driver.cuLaunchHostFunc(ctypes.c_void_p(stream.handle), libc.sem_wait, semaphore)


# By default copies without a stream come after what was queued on it before.
ordered = Stream(ctx, non_blocking=False)
delay = ctypes.c_void_p(200_000)
_ = driver.cuLaunchHostFunc(ctypes.c_void_p(ordered.handle), libc.usleep, delay)
buf.fill(ord("a"), stream=ordered)
buf.to_pybytes()
# They do not wait for a stream that is independent.
first = Stream(ctx, non_blocking=True)
hold(first)
buf.fill(ord("b"), stream=first)
buf.to_pybytes()
# Another stream waits for it, and so does the work that is queued there from then on.
second = Stream(ctx, non_blocking=True)
second.wait(other=first)
copy.copy_from_device(buf, stream=second), first.query(), second.query(), copy.to_pybytes()
_ = libc.sem_post(semaphore)
second.synchronize()
(first.query(), copy.to_pybytes())
# Waiting for an event does not wait for later work.
hold(first)
buf.fill(ord("c"), stream=first)
event = first.record()
hold(first)
buf.fill(ord("d"), stream=first)
second.wait(event)
copy.copy_from_device(buf, stream=second)
_ = libc.sem_post(semaphore)
second.synchronize()
(first.query(), copy.to_pybytes())
_ = libc.sem_post(semaphore)
first.synchronize()
buf.to_pybytes()
# Only streams and events can be waited for.
second.wait(other=1)
second.wait(None)
