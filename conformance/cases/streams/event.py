# An event marks a point in a stream's work, to ask for, to wait for, to measure time between.
# shows: additions, Streams
#   Stream.record: an event after all queued work
#   Stream.record(event): the event; a new one by default
# shows: additions, Events
#   Event: a point in the work of a stream
#   Event(context): the context of the streams on which it can be recorded; the first device's by
#     default
#   Event(timing): whether it records the time
#   Event.context: the context that it belongs to
#   Event.handle: the driver's handle
#   Event.wait: a stream waits for it
#   Event.wait(stream): the stream; the default stream if not given
#   Event.record: marks the end of the work queued on a stream
#   Event.record(stream): the stream; the default one if none is given
#   Event.query: whether the work before it is complete; true before it is recorded
#   Event.synchronize: waits for the work before it
#   Event.elapsed_time: the milliseconds between two events
#   Event.elapsed_time(end): the other event, which may be the earlier one
#   Event: the difference of two events is the time between them, in milliseconds
import ctypes
import re

from pyarrow import cuda

from pyarrow_cuda_compat import Event, Stream

ctx = cuda.Context(0)
driver = ctypes.CDLL(re.search(r"/\S*libcuda(_sim)?\.so\S*", open("/proc/self/maps").read())[0])
_ = driver.cuCtxSetCurrent(ctypes.c_void_p(ctx.handle))
libc, semaphore = ctypes.CDLL(None), ctypes.create_string_buffer(64)
_ = libc.sem_init(semaphore, 0, 0)
stream = Stream(ctx, non_blocking=True)
event = Event(context=ctx)
(event.context.handle == ctx.handle, event.handle != Event().handle)
Event().context.device_number
# One that was never recorded counts as done.
event.query()
# The stream waits for the semaphore; the event lies between two pieces of work.
_ = driver.cuLaunchHostFunc(ctypes.c_void_p(stream.handle), libc.sem_wait, semaphore)
stream.record(event=event) is event
_ = driver.cuLaunchHostFunc(ctypes.c_void_p(stream.handle), libc.sem_wait, semaphore)
behind = stream.record()
(event.query(), behind.query())
timed = stream.record(Event(ctx, timing=True))
timed.elapsed_time(timed)
_ = libc.sem_post(semaphore)
event.synchronize()
(event.query(), behind.query())
_ = libc.sem_post(semaphore)
behind.synchronize()
behind.query()
# Milliseconds between two that take the time, with a delay of 20 ms between them.
start, end = Event(ctx, timing=True), Event(ctx, timing=True)
start.record(stream=stream)
_ = driver.cuLaunchHostFunc(ctypes.c_void_p(stream.handle), libc.usleep, ctypes.c_void_p(20_000))
end.record(stream)
end.synchronize()
(start.elapsed_time(end=end) > 19, end.elapsed_time(start) < -19)
# Recorded without a stream it is one of the default stream.
end.record()
end.synchronize()
start.elapsed_time(end) > 19
# The work that is queued behind a wait for it comes later, on whatever stream.
late = Stream(ctx, non_blocking=True)
behind.wait(stream=late)
late.synchronize()
# As a difference of events.
end - start == start.elapsed_time(end)
# There is no time where none was taken, and none before it was recorded.
start.elapsed_time(event)
start.elapsed_time(Event(ctx, timing=True))
