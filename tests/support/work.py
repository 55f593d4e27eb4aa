"""Work that keeps a stream busy, queued past the package.

The kernel below spins for a number of milliseconds.  A device compiles it; the simulator knows
it by its name.
"""

import ctypes
from functools import partial

SLEEP = b"""
.version 6.0
.target sm_50
.address_size 64
.visible .entry sim_sleep(.param .u64 milliseconds)
{
    .reg .pred %p<2>;
    .reg .b64 %rd<6>;
    ld.param.u64 %rd1, [milliseconds];
    mul.lo.u64 %rd1, %rd1, 1000000;
    mov.u64 %rd2, %globaltimer;
AGAIN:
    mov.u64 %rd3, %globaltimer;
    sub.u64 %rd4, %rd3, %rd2;
    setp.lt.u64 %p1, %rd4, %rd1;
    @%p1 bra AGAIN;
    ret;
}
\0"""
NON_BLOCKING = 1
LIBC = ctypes.CDLL(None)
LONG = 150  # milliseconds: far longer than the calls that must wait for it


class Queue:
    """Queues work on a stream, the default one unless told."""

    def __init__(self, driver, stream=None):
        self.driver = driver
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        driver.call("cuModuleLoadData", ctypes.byref(module), SLEEP)
        driver.call("cuModuleGetFunction", ctypes.byref(function), module, b"sim_sleep")
        self.function, self.stream = function, stream
        self.semaphores = []

    def sleep(self, milliseconds=LONG):
        argument = ctypes.c_uint64(milliseconds)
        arguments = (ctypes.c_void_p * 1)(ctypes.addressof(argument))
        grid = [1] * 6
        self.driver.call("cuLaunchKernel", self.function, *grid, 0, self.stream, arguments, None)

    def hold(self):
        """Has the stream wait for a call of the function that it returns."""
        semaphore = ctypes.create_string_buffer(64)
        self.semaphores.append(semaphore)
        assert LIBC.sem_init(semaphore, 0, 0) == 0
        self.driver.call("cuLaunchHostFunc", self.stream, LIBC.sem_wait, semaphore)
        return partial(LIBC.sem_post, semaphore)

    def finish(self):
        """Holds the stream no longer; waits for it, because it still uses the semaphores."""
        for semaphore in self.semaphores:
            LIBC.sem_post(semaphore)
        if self.semaphores:
            self.driver.call("cuStreamSynchronize", self.stream)

    def fill(self, buffer, value):
        self.driver.call(
            "cuMemsetD8Async",
            ctypes.c_uint64(buffer.address),
            ctypes.c_ubyte(value),
            ctypes.c_size_t(buffer.size),
            self.stream,
        )

    def is_idle(self):
        code = self.driver.library.cuStreamQuery(self.stream)
        assert code in (0, 600), code
        return code == 0


class Producer(Queue):
    """Work on a stream, and an event after it."""

    def __init__(self, driver, stream, event):
        super().__init__(driver, stream)
        self.event = event

    @property
    def place(self):
        """What `sync_event` points to."""
        return ctypes.addressof(self.event)

    def record(self):
        self.driver.call("cuEventRecord", self.event, self.stream)

    def fill_later(self, buffer, value, milliseconds=LONG):
        """The event is reached when the buffer is filled."""
        self.sleep(milliseconds)
        self.fill(buffer, value)
        self.record()

    def is_done(self):
        code = self.driver.library.cuEventQuery(self.event)
        assert code in (0, 600), code
        return code == 0
