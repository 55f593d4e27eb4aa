"""Signals that arrive while the main thread waits for the device, or copies data."""

import pytest

pytestmark = pytest.mark.subprocesses

# `let_go()` ends what keeps the default stream busy, and `signal_soon()` sends a signal during the
# call that comes next.
START = """
import ctypes, os, signal, tempfile, threading
import numpy as np
import pyarrow as pa
import pyarrow_cuda_compat as compat
from support.driver import the_driver
from support.work import Queue
signal.signal(signal.SIGINT, signal.default_int_handler)  # jobs in the background ignore it
SIZE = 1000
ctx = compat.Context(0)
stream = compat.Stream(ctx)  # ordered with the default stream
content = bytes(range(250)) * 4
buf, other = ctx.buffer_from_data(content), ctx.buffer_from_data(content)
large = ctx.buffer_from_data(content * 2000)
host = pa.py_buffer(content)
file = tempfile.NamedTemporaryFile()
path = file.name
buf.copy_to_file(path)
array = compat.DeviceArray(buf, "u1")
strided = compat.DeviceArray(other, "u1", (500,), (2,))
pinned = compat.new_host_buffer(SIZE)
# A small copy that was ended may still be made, in its turn; it brings the same bytes.
np.frombuffer(pinned, "u1")[:] = host
buf.equals(other)  # compiles the kernel
driver = the_driver()
driver.set_current(ctx.handle)
queue = Queue(driver, ctypes.c_void_p(stream.handle))
CALLS = {
    "Stream.synchronize": stream.synchronize,
    "Event.synchronize": lambda: event.synchronize(),
    "Context.synchronize": ctx.synchronize,
    "to_pybytes": buf.to_pybytes,
    "copy_to_host": buf.copy_to_host,
    "to pinned memory": lambda: buf.copy_to_host(buf=pinned),
    "a large copy": large.to_pybytes,
    "copy_from_host": lambda: other.copy_from_host(host),
    "from pinned memory": lambda: other.copy_from_host(pinned),
    "copy_from_device": lambda: other.copy_from_device(buf),
    "fill": lambda: ctx.new_buffer(SIZE).fill(1),
    "equals": lambda: buf.equals(other),
    "equals of the host": lambda: buf.equals(host),
    "buffer_from_data": lambda: ctx.buffer_from_data(content),
    "buffer_from_file": lambda: ctx.buffer_from_file(path),
    "copy_to_file": lambda: buf.copy_to_file(path),
    "pageable memory on a stream": lambda: buf.copy_to_host(stream=stream),
    "an array": array.copy_to_host,
    "elements with gaps": strided.copy_to_host,
    "an array from the host": lambda: array.__setitem__(..., np.frombuffer(content, "u1")),
}
if (last := ctx.get_num_devices() - 1) > 0:
    def reset():
        compat.Context(last)
        compat._native._reset_device(last)
    CALLS["a reset of another device"] = reset
def signal_soon(number):
    threading.Timer(0.1, os.kill, (os.getpid(), number)).start()
"""


def test_ctrl_c_ends_waits(run_python):
    code = """
for name, call in CALLS.items():
    let_go = queue.hold()
    event = stream.record()
    signal_soon(signal.SIGINT)
    try:
        call()
    except KeyboardInterrupt:
        assert not event.query(), name
    else:
        raise AssertionError(name)
    let_go()
    ctx.synchronize()
    assert buf.to_pybytes() == other.to_pybytes() == content, name
    assert large.to_pybytes() == content * 2000
print("all")
"""
    assert run_python(START + code, timeout=60) == (0, "all\n", "")


def test_waits_go_on_behind_handlers(run_python):
    """Each call ends only because the handler ran during it."""
    code = """
signal.signal(signal.SIGALRM, lambda *_: let_go())
for name, call in CALLS.items():
    let_go = queue.hold()
    event = stream.record()
    signal_soon(signal.SIGALRM)
    result = call()
    assert event.query(), name
    if isinstance(result, bytes) and len(result) == SIZE:
        assert result == content, name
    assert buf.to_pybytes() == other.to_pybytes() == content, name
print("all")
"""
    assert run_python(START + code, timeout=60) == (0, "all\n", "")


@pytest.mark.parametrize("signal", ["SIGALRM", "SIGINT"])
def test_a_handler_takes_away_what_is_copied(run_python, signal):
    """What it resizes is looked up again; the context that it leaves current is its own affair."""
    code = """
import sys
out = pa.allocate_buffer(SIZE, resizable=True)
def handler(*_):
    out.resize(10, shrink_to_fit=True)
    driver.set_current(compat.Context(ctx.get_num_devices() - 1).handle)
    let_go()
number = getattr(signal, sys.argv[1])
signal.signal(number, handler)
before = driver.current()
let_go = queue.hold()
signal_soon(number)
try:
    buf.copy_to_host(buf=out)
except ValueError as error:
    print(error)
assert buf.copy_to_host().to_pybytes() == content
"""
    expected = "requested copy does not fit into host buffer\n"
    assert run_python(START + code, signal, timeout=60) == (0, expected, "")


def test_other_threads_are_not_disturbed(run_python):
    code = """
let_go = queue.hold()
results = []
thread = threading.Thread(target=lambda: results.append(buf.to_pybytes()))
thread.start()
signal_soon(signal.SIGINT)
try:
    stream.synchronize()
except KeyboardInterrupt:
    let_go()
thread.join()
assert results == [content]
print("over")
"""
    assert run_python(START + code, timeout=60) == (0, "over\n", "")


def test_memory_of_a_copy_that_was_ended_serves_nobody_before_its_turn(run_python):
    code = """
free = compat.Stream(ctx, non_blocking=True)
let_go = queue.hold()
signal_soon(signal.SIGINT)
try:
    ctx.buffer_from_data(content)
except KeyboardInterrupt:
    pass
others = [ctx.new_buffer(SIZE) for _ in range(10)]
for buffer in others:
    buffer.fill(7, stream=free)
free.synchronize()
let_go()
ctx.synchronize()
assert all(buffer.to_pybytes() == bytes([7]) * SIZE for buffer in others)
print("over")
"""
    assert run_python(START + code, timeout=60) == (0, "over\n", "")


def test_memory_that_the_device_still_uses_stays(run_python):
    """A queued copy retains both ends, however the wait for it ends."""
    code = """
let_go = queue.hold()
buf.copy_to_host(buf=pinned, stream=stream)
address = pinned.address
signal_soon(signal.SIGINT)
try:
    stream.synchronize()
except KeyboardInterrupt:
    pass
del pinned, buf, array, CALLS
others = [compat.new_host_buffer(SIZE) for _ in range(100)]
assert address not in [each.address for each in others]
let_go()
stream.synchronize()
print("over")
"""
    assert run_python(START + code, timeout=60) == (0, "over\n", "")


@pytest.mark.simulator
@pytest.mark.parametrize(
    "name", ["Stream.synchronize", "Context.synchronize", "to_pybytes", "fill"]
)
def test_a_handler_resets_the_device(run_python, name):
    """The driver would read through handles that are gone."""
    code = """
import sys
def handler(*_):
    let_go()
    driver.call("cuDevicePrimaryCtxReset_v2", 0)
signal.signal(signal.SIGALRM, handler)
let_go = queue.hold()
signal_soon(signal.SIGALRM)
try:
    CALLS[sys.argv[1]]()
except OSError as error:
    print(str(error).split(":")[0])
"""
    expected = "Cuda error 201 in function 'cuCtxGetApiVersion'\n"
    assert run_python(START + code, name, timeout=60) == (0, expected, "")
