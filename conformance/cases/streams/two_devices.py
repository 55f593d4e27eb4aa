# Between two devices a copy may take a stream of either; other work takes the device's own.
# needs: two devices
# shows: additions, Streams
#   Stream.wait: also one of another device
#   CudaBuffer.copy_from_device(stream): between devices the stream may be of either
#   CudaBuffer.fill(stream): streams of other contexts are refused
import ctypes
import re

from pyarrow import cuda

from pyarrow_cuda_compat import Event, Stream

driver = ctypes.CDLL(re.search(r"/\S*libcuda(_sim)?\.so\S*", open("/proc/self/maps").read())[0])
first, second = cuda.Context(0), cuda.Context(1)
_ = driver.cuCtxSetCurrent(ctypes.c_void_p(second.handle))
here, there = Stream(first), Stream(second)
(here.context.device_number, there.context.device_number, there, Event(second))
buf, other = first.buffer_from_data(b"0123456789"), second.buffer_from_data(b"abc")
buf.copy_from_device(other, stream=there)
there.synchronize()
other.copy_from_device(buf, position=1, stream=here)
here.synchronize()
(buf.to_pybytes(), other.to_pybytes())
# A stream waits for the other device's, and for its events.
buf.fill(ord("x"), stream=here)
there.wait(here)
other.copy_from_device(buf, stream=there)
there.wait(here.record())
there.synchronize()
other.to_pybytes()
# Without a stream a copy comes after the work of those in the place of both default streams.
handle, delay = ctypes.c_void_p(there.handle), ctypes.c_void_p(200_000)
_ = driver.cuLaunchHostFunc(handle, ctypes.CDLL(None).usleep, delay)
other.fill(ord("y"), stream=there)
with here, there:
    buf.copy_from_device(other)
buf.to_pybytes()
# Refused: streams and events of another context.
mine, theirs = Event(first, timing=True), Event(second, timing=True)
mine.record(here)
theirs.record(there)
for call in (
    lambda: buf.fill(0, stream=there),
    lambda: buf.fill(0, stream=type("Theirs", (), {"__cuda_stream__": there.__cuda_stream__})),
    lambda: buf.copy_from_host(b"abc", stream=there),
    lambda: buf.copy_to_host(stream=there),
    lambda: Event(first).record(there),
    lambda: there.record(Event(first)),
    lambda: mine.elapsed_time(theirs),
):
    try:
        call()
    except ValueError as error:
        print(error)
buf.to_pybytes()
