# A signal's handler that raises ends a wait for the device, on the main thread.
# shows: additions, Streams
#   Stream.synchronize: Ctrl-C ends the wait; the work goes on
#   Context.synchronize: likewise
#   CudaBuffer.copy_to_host: likewise, for pageable memory behind work
import ctypes
import re
import signal
import threading
import time

from pyarrow import cuda

from pyarrow_cuda_compat import Event, Stream

ctx = cuda.Context(0)
driver = ctypes.CDLL(re.search(r"/\S*libcuda(_sim)?\.so\S*", open("/proc/self/maps").read())[0])
_ = driver.cuCtxSetCurrent(ctypes.c_void_p(ctx.handle))
libc, semaphore = ctypes.CDLL(None), ctypes.create_string_buffer(64)
_ = libc.sem_init(semaphore, 0, 0)
stream = Stream(ctx)
buf, event = ctx.buffer_from_data(b"...."), Event(ctx)
large, other = (ctx.buffer_from_data(bytes(1 << 20)) for _ in range(2))
main = threading.main_thread().ident


def stop(number, frame):
    raise InterruptedError(signal.Signals(number).name)


def interrupted(wait):
    """What a wait raises, behind work that waits for the semaphore, when a signal comes."""
    driver.cuLaunchHostFunc(ctypes.c_void_p(stream.handle), libc.sem_wait, semaphore)
    buf.fill(ord("x"), stream=stream)
    event.record(stream)
    timer = threading.Timer(0.1, signal.pthread_kill, [main, signal.SIGUSR1])
    timer.start()
    try:
        wait()
        print("not interrupted")
    except InterruptedError as error:
        print(error, stream.query(), event.query())
    # The work goes on when it can.
    timer.join()
    libc.sem_post(semaphore)
    stream.synchronize()
    print(buf.to_pybytes())
    buf.fill(ord("."))


before = signal.signal(signal.SIGUSR1, stop)
interrupted(stream.synchronize)
interrupted(ctx.synchronize)
interrupted(event.synchronize)
interrupted(buf.copy_to_host)
interrupted(large.copy_to_host)
interrupted(lambda: large.fill(1))
interrupted(lambda: large.equals(other))
# A handler that raises nothing lets the wait go on.
_ = signal.signal(signal.SIGUSR1, lambda number, frame: libc.sem_post(semaphore))
_ = driver.cuLaunchHostFunc(ctypes.c_void_p(stream.handle), libc.sem_wait, semaphore)
timer = threading.Timer(0.1, signal.pthread_kill, [main, signal.SIGUSR1])
timer.start()
stream.synchronize()
timer.join()
stream.query()
_ = signal.signal(signal.SIGUSR1, before)
# Ctrl-C ends a copy whose turn on its stream has come, and which waits for the default stream now.
own, ended = Stream(ctx, non_blocking=True), threading.Event()
turn, default = ctypes.create_string_buffer(64), semaphore
_ = libc.sem_init(turn, 0, 0)
_ = driver.cuLaunchHostFunc(ctypes.c_void_p(own.handle), libc.sem_wait, turn)
_ = driver.cuLaunchHostFunc(None, libc.sem_wait, default)


def press():
    """Lets the copy's stream go on, presses Ctrl-C, and lets the default stream go on."""
    time.sleep(0.1)
    libc.sem_post(turn)
    own.synchronize()
    time.sleep(0.1)
    signal.pthread_kill(main, signal.SIGINT)
    ended.wait(10)
    libc.sem_post(default)


before = signal.signal(signal.SIGINT, signal.default_int_handler)
thread = threading.Thread(target=press)
try:
    thread.start()
    large.copy_from_host(bytes(1 << 20), stream=own)
except KeyboardInterrupt:
    print("interrupted", driver.cuStreamQuery(None))
ended.set()
thread.join()
_ = signal.signal(signal.SIGINT, before)
