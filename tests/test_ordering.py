"""Copies and releases among work that is still running.

The kernel below spins for a number of milliseconds.  A device compiles it; the simulator knows
it by its name.
"""

import ctypes

import pytest

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
LONG = 150  # milliseconds: far longer than the calls that must wait for it


class Queue:
    """Queues work on a stream, past the package."""

    def __init__(self, driver, stream=None):
        self.driver = driver
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        driver.call("cuModuleLoadData", ctypes.byref(module), SLEEP)
        driver.call("cuModuleGetFunction", ctypes.byref(function), module, b"sim_sleep")
        self.function, self.stream = function, stream

    def sleep(self, milliseconds=LONG):
        argument = ctypes.c_uint64(milliseconds)
        arguments = (ctypes.c_void_p * 1)(ctypes.addressof(argument))
        grid = [1] * 6
        self.driver.call("cuLaunchKernel", self.function, *grid, 0, self.stream, arguments, None)

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


@pytest.fixture
def current(ctx, driver):
    """The context is current for the test's own driver calls."""
    before = driver.current()
    driver.set_current(ctx.handle)
    yield
    ctx.synchronize()
    driver.set_current(before)


@pytest.fixture
def default_stream(driver, current):
    return Queue(driver)


@pytest.fixture
def side_stream(driver, current):
    stream = ctypes.c_void_p()
    driver.call("cuStreamCreate", ctypes.byref(stream), NON_BLOCKING)
    yield Queue(driver, stream)
    driver.call("cuStreamDestroy_v2", stream)


def test_a_copy_to_the_host_sees_the_default_streams_work(ctx, default_stream):
    buffer = ctx.buffer_from_data(bytes(1000))
    default_stream.sleep()
    default_stream.fill(buffer, 7)
    assert not default_stream.is_idle()
    assert buffer.to_pybytes() == b"\x07" * 1000


def test_a_copy_from_the_host_comes_after_the_default_streams_work(ctx, default_stream):
    buffer = ctx.buffer_from_data(bytes(1000))
    default_stream.sleep()
    default_stream.fill(buffer, 7)
    buffer.copy_from_host(b"\x09" * 1000)
    assert buffer.to_pybytes() == b"\x09" * 1000


def test_a_copy_between_buffers_is_complete_when_it_returns(ctx, default_stream):
    source, target = ctx.buffer_from_data(bytes(1000)), ctx.buffer_from_data(bytes(1000))
    default_stream.sleep()
    default_stream.fill(source, 7)
    target.copy_from_device(source)
    assert default_stream.is_idle()
    assert target.to_pybytes() == b"\x07" * 1000


def test_equality_sees_the_default_streams_work(ctx, default_stream):
    one, other = ctx.buffer_from_data(bytes(1000)), ctx.buffer_from_data(bytes(1000))
    default_stream.sleep()
    default_stream.fill(one, 7)
    assert not one.equals(other)


def test_synchronize_waits_for_every_stream(ctx, side_stream):
    side_stream.sleep()
    assert not side_stream.is_idle()
    ctx.synchronize()
    assert side_stream.is_idle()


@pytest.mark.parametrize("size", [1000, 4 << 20])
def test_memory_under_a_running_kernel_is_not_given_to_others(ctx, side_stream, size):
    buffer = ctx.buffer_from_data(bytes(size))
    side_stream.sleep()
    side_stream.fill(buffer, 7)
    assert not side_stream.is_idle()
    del buffer
    others = [ctx.buffer_from_data(b"\x01" * size) for _ in range(20)]
    ctx.synchronize()
    assert all(other.to_pybytes() == b"\x01" * size for other in others)
