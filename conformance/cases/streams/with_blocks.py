# In a with-block a stream takes the place of the default stream.
# shows: additions, Streams
#   Stream: a with-block puts it in the place of the default stream, for one thread
#   Stream: calls in such a block are complete when they return, unless they name a stream
import ctypes
import re
import threading

import pyarrow as pa
from pyarrow import cuda

from pyarrow_cuda_compat import DeviceArray, Event, Stream

ctx = cuda.Context(0)
driver = ctypes.CDLL(re.search(r"/\S*libcuda(_sim)?\.so\S*", open("/proc/self/maps").read())[0])
_ = driver.cuCtxSetCurrent(ctypes.c_void_p(ctx.handle))
libc, semaphore = ctypes.CDLL(None), ctypes.create_string_buffer(64)
_ = libc.sem_init(semaphore, 0, 0)
stream, other = Stream(ctx, non_blocking=True), Stream(ctx, non_blocking=True)
buf, event = ctx.buffer_from_data(b"...."), Event(ctx)
writer, host = cuda.BufferWriter(buf), pa.default_cpu_memory_manager()
writer.buffer_size = 8


def begin():
    """The stream waits for the semaphore, then it fills the buffer."""
    driver.cuLaunchHostFunc(ctypes.c_void_p(stream.handle), libc.sem_wait, semaphore)
    buf.fill(ord("x"), stream=stream)


def finish_soon():
    threading.Timer(0.05, libc.sem_post, [semaphore]).start()


# Calls without a stream come after its work, and are complete when they return.
begin()
finish_soon()
with stream as entered:
    print(entered is stream, buf.copy_to_host().to_pybytes(), stream.query())
# So do those that take no stream.
buf.fill(ord("."))
begin()
finish_soon()
with stream:
    print(buf.to_pybytes(), buf.equals(ctx.buffer_from_data(b"xxxx")))
buf.fill(ord("."))
begin()
finish_soon()
with stream:
    print(DeviceArray(buf, "u1").copy_to_host().tobytes())
# Values that are assigned to arrays are not overwritten by earlier work.
for size in 4, 40_000:
    array = DeviceArray.empty(size, "u1")
    for value in 66, [65] * size, DeviceArray(ctx.buffer_from_data(b"C" * size), "u1"):
        _ = driver.cuLaunchHostFunc(ctypes.c_void_p(stream.handle), libc.sem_wait, semaphore)
        array.buffer.fill(ord("x"), stream=stream)
        finish_soon()
        with stream:
            array[:] = value
        stream.synchronize()
        print(array[:2].copy_to_host().tobytes())
begin()
finish_soon()
with stream:
    print(writer.write(b"zzz"), writer.flush(), buf.to_pybytes())
    # A consumer on the default stream comes after this one's work, without a wait.
    print(bool(buf.__dlpack__()))
    begin()
    finish_soon()
    # A consumer on another stream gets what this one has written.
    print(bool(DeviceArray(buf, "u1").__dlpack__(stream=other.handle)), stream.query())
# Bytes that a writer has sent are there as well.
pinned, writer.buffer_size = cuda.new_host_buffer(4), 2
(writer.seek(2), writer.write(b"?"))
_ = driver.cuLaunchHostFunc(None, libc.sem_wait, semaphore)
finish_soon()
with stream:
    print(writer.write(b"!"), buf.copy_to_host(buf=pinned).to_pybytes())
buf.fill(ord("."))
begin()
finish_soon()
pa.Array.from_buffers(pa.uint8(), 4, [None, buf]).copy_to(host, stream=stream).to_pylist()
# Only naming a stream lets a call return at once.
begin()
with stream:
    buf.fill(ord("y"), stream=stream)
    print(stream.query())
# Outside of the block nothing waits for it; blocks nest, and the inner one's stream counts.
event.record()
event.synchronize()
with stream, other:
    event.record()
    event.synchronize()
    with stream:
        event.record()
        print(event.query())
_ = stream.__enter__()
with other:
    stream.__exit__(None, None, None)
    event.record()
    event.synchronize()


# Other threads are not affected.
def in_thread():
    event.record()
    event.synchronize()
    print("recorded")


with stream:
    thread = threading.Thread(target=in_thread)
    thread.start()
    thread.join()
_ = libc.sem_post(semaphore)
stream.synchronize()
buf.to_pybytes()
# An exception ends the block.
with stream:
    raise KeyError("mine")
with other:
    event.record()
event.synchronize()
stream.__exit__(None, None, None)
