# Numba's streams and events: waiting at the end of a block, also when the block raises.
# shows: additions, Numba's memory API
#   pyarrow_cuda_compat.memory.stream: a stream, whose auto_synchronize waits also when the block
#     raises
#   pyarrow_cuda_compat.memory.default_stream: the default streams: the legacy one, and that of the
#     thread
#   pyarrow_cuda_compat.memory.external_stream: a stream of another library
#   pyarrow_cuda_compat.memory.event: events, and the time between two
#   Event.wait: delays a stream until the event is reached
#   Event.wait(stream): the stream, the default one if not given
import ctypes
import re

import numpy as np
from pyarrow import cuda

from pyarrow_cuda_compat import Stream, memory

ctx = cuda.Context(0)
driver = ctypes.CDLL(re.search(r"/\S*libcuda(_sim)?\.so\S*", open("/proc/self/maps").read())[0])
_ = driver.cuCtxSetCurrent(ctypes.c_void_p(ctx.handle))
libc, host, back = ctypes.CDLL(None), memory.pinned_array(4), memory.pinned_array(4)


def there_and_back(stream, value):
    """Queues a delay of 200 ms, a copy to the device, and the one back."""
    host[:], back[:] = value, 0
    handle = ctypes.c_void_p(int(stream))
    driver.cuLaunchHostFunc(handle, libc.usleep, ctypes.c_void_p(200_000))
    memory.to_device(host, stream=stream).copy_to_host(back, stream=stream)


stream = memory.stream()
there_and_back(stream, 5)
back
stream.synchronize()
back
with stream.auto_synchronize() as same:
    there_and_back(stream, 6)
(same is stream, back)
with stream.auto_synchronize():
    there_and_back(stream, 7)
    raise KeyError("in the block")
back
# Streams of other libraries, and the default ones.
theirs = Stream(ctx, non_blocking=True)
there_and_back(memory.external_stream(ptr=theirs.handle), 9)
memory.external_stream(theirs.handle).synchronize()
back
# To an array that is there, and back to the one that it was made with, behind other work.
array, host[:] = memory.DeviceNDArray(4, 8, "f8", writeback=back), 4
_ = driver.cuLaunchHostFunc(ctypes.c_void_p(theirs.handle), libc.usleep, ctypes.c_void_p(200_000))
array.buffer.fill(0, stream=theirs)
memory.to_device(host, stream=theirs, to=array) is array
array.to_host(stream=theirs)
theirs.synchronize()
back
[memory.default_stream(), memory.legacy_default_stream(), memory.per_thread_default_stream()]
memory.external_stream(theirs.handle)
memory.to_device(np.arange(3), stream=memory.per_thread_default_stream()).copy_to_host()
# Events.
start, end = memory.event(timing=True), memory.event()
start.record(stream=stream)
there_and_back(stream, 8)
end.record(stream)
end.query()
end.wait(stream=memory.default_stream())
end.synchronize()
memory.event_elapsed_time(evtstart=start, evtend=end) >= 200
