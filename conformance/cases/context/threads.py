# Any thread uses, copies and drops what another one has made.
# shows: pyarrow_cuda
#   Context: any thread uses it and what it has made; each thread's current context stays
#   Context: the calling thread's current context stays current
#   Context.synchronize: blocks until the work of every stream is complete; returns None
import ctypes
import re
import threading

from pyarrow import cuda

ctx = cuda.Context()
driver = ctypes.CDLL(re.search(r"/\S*libcuda(_sim)?\.so\S*", open("/proc/self/maps").read())[0])
current, own = [], ctypes.c_void_p()


def note():
    handle = ctypes.c_void_p()
    driver.cuCtxGetCurrent(ctypes.byref(handle))
    current.append(handle.value)


def in_thread(function):
    thread = threading.Thread(target=function)
    thread.start()
    thread.join()


# Made in one thread, used in another, dropped in a third: none of them gets a context.
shared, before = [], ctx.bytes_allocated
in_thread(lambda: (note(), shared.append(ctx.buffer_from_data(b"0123456789")), note()))
in_thread(lambda: (shared[0].copy_from_host(b"XY", position=4), note()))
(shared[0].to_pybytes(), ctx.bytes_allocated - before)
in_thread(lambda: (shared.clear(), note()))
ctx.bytes_allocated - before, current
# The context that a thread has chosen stays its own.
driver.cuCtxCreate_v2(ctypes.byref(own), 0, 0)
in_thread(lambda: (shared.append(cuda.Context().new_buffer(3)), note()))
shared[0].copy_from_host(b"abc")
note()
[current[-2], current[-1] == own.value]
driver.cuCtxDestroy_v2(own)
# Threads that copy at the same time do not disturb each other.
parts = [ctx.new_buffer(100_000) for _ in range(4)]
start, seen = threading.Barrier(4), {}


def work(number):
    start.wait()
    mine, got = parts[number], set()
    for turn in range(20):
        copy = ctx.new_buffer(mine.size)
        mine.copy_from_host(bytes([16 * number + turn]) * mine.size)
        copy.copy_from_device(mine)
        got.add(copy.to_pybytes() == bytes([16 * number + turn]) * mine.size)
    seen[number] = got


threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
[thread.start() for thread in threads] == [None] * 4
[thread.join() for thread in threads] == [None] * 4, [seen[number] for number in range(4)]
[part.slice(99_998).to_pybytes() for part in parts]


# No call changes which context is current on the calling thread.
def current():
    handle = ctypes.c_void_p()
    driver.cuCtxGetCurrent(ctypes.byref(handle))
    return handle.value


# None was, and none is.
buf = ctx.buffer_from_data(b"0123456789")
current() is None
own = ctypes.c_void_p()
driver.cuCtxCreate_v2(ctypes.byref(own), 0, 0)
current() == own.value, ctx.new_buffer(100).copy_from_device(buf), buf.to_pybytes()
cuda.BufferWriter(buf).writeat(2, b"XY")
buf.equals(ctx.buffer_from_data(b"01XY456789")), cuda.new_host_buffer(8).size
ctx.synchronize()
ctx.foreign_buffer(1, 1)
del buf
current() == own.value
driver.cuCtxDestroy_v2(own)

# Synchronizing waits for the work of every stream.
ctx.synchronize() is None
driver.cuCtxSetCurrent(ctypes.c_void_p(ctx.handle))
stream = ctypes.c_void_p()
driver.cuStreamCreate(ctypes.byref(stream), 1)
size = 64 << 20
buf = ctx.new_buffer(size)
at, count = ctypes.c_uint64(buf.address), ctypes.c_size_t(size)
# The stream is busy for 200 ms, with a function of the C library, and then with 40 fills.
driver.cuLaunchHostFunc(stream, ctypes.CDLL(None).usleep, ctypes.c_void_p(200_000))
{driver.cuMemsetD8Async(at, ctypes.c_ubyte(value), count, stream) for value in range(40)}
ctx.synchronize()
# 0 from the driver: nothing is left to do.
driver.cuStreamQuery(stream)
buf.slice(size - 3).to_pybytes()
driver.cuStreamDestroy_v2(stream)
driver.cuCtxSetCurrent(None)
