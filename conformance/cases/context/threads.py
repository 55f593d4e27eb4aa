# Any thread uses, copies and drops what another one has made.
# shows: pyarrow_cuda
#   Context: any thread uses it and what it has made; each thread's current context stays
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
ctx.bytes_allocated - before
current

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
[thread.join() for thread in threads] == [None] * 4
[seen[number] for number in range(4)]
[part.slice(99_998).to_pybytes() for part in parts]
