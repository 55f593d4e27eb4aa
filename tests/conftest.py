"""What all tests share: the driver in use, guarded memory, fresh interpreters, leak checks."""

import ctypes
import gc
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from work import Queue

# Fixtures here hold no state that examples change, and time says nothing on a shared machine.
settings.register_profile(
    "tests",
    deadline=None,
    database=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
settings.load_profile("tests")

GUARD = 64
PATTERN = bytes((7 * index + 0x5A) % 251 + 1 for index in range(GUARD))


class Driver:
    """A second, independent view on the driver library that the package uses."""

    def __init__(self, path):
        self.library = ctypes.CDLL(path)

    def call(self, name, *arguments):
        """Calls a function and asserts that it succeeds."""
        code = getattr(self.library, name)(*arguments)
        assert code == 0, f"{name} answered {code}"

    def current(self):
        """The handle of the calling thread's current context, 0 for none."""
        context = ctypes.c_void_p()
        self.call("cuCtxGetCurrent", ctypes.byref(context))
        return context.value or 0

    def set_current(self, handle):
        self.call("cuCtxSetCurrent", ctypes.c_void_p(handle or None))

    def create_context(self, device=0):
        """Makes a context and leaves the thread's stack as it was."""
        context = ctypes.c_void_p()
        self.call("cuCtxCreate_v2", ctypes.byref(context), 0, device)
        self.call("cuCtxPopCurrent_v2", ctypes.byref(ctypes.c_void_p()))
        return context.value

    def destroy_context(self, handle):
        self.call("cuCtxDestroy_v2", ctypes.c_void_p(handle))

    def memory_info(self):
        """Free and total bytes of the current context's device."""
        free, total = ctypes.c_size_t(), ctypes.c_size_t()
        self.call("cuMemGetInfo_v2", ctypes.byref(free), ctypes.byref(total))
        return free.value, total.value

    def read(self, address, size):
        """Device memory as bytes, whatever buffers say of it; needs a current context."""
        out = ctypes.create_string_buffer(size)
        self.call("cuMemcpyDtoH_v2", out, ctypes.c_uint64(address), ctypes.c_size_t(size))
        return out.raw[:size]


@pytest.fixture(scope="session")
def cuda():
    from pyarrow import cuda

    return cuda


@pytest.fixture(scope="session")
def is_simulator():
    return os.environ.get("PYARROW_CUDA_DRIVER", "").endswith(("sim", "libcuda_sim.so"))


@pytest.fixture(scope="session")
def driver(cuda, is_simulator):
    path = os.environ.get("PYARROW_CUDA_DRIVER") or "libcuda.so.1"
    if path == "sim":
        import pyarrow_cuda_compat

        path = Path(pyarrow_cuda_compat.__file__).parent / "lib" / "libcuda_sim.so"
    view = Driver(str(path))
    view.call("cuInit", 0)
    if is_simulator:
        view.library.cuda_sim_live_allocations.restype = ctypes.c_uint64
        view.library.cuda_sim_live_host_allocations.restype = ctypes.c_uint64
        view.library.cuda_sim_live_imports.restype = ctypes.c_uint64
        view.library.cuda_sim_call_count.restype = ctypes.c_uint64
    return view


@pytest.fixture(scope="session")
def contexts(cuda):
    """One context for each device."""
    return [cuda.Context(number) for number in range(cuda.Context.get_num_devices())]


@pytest.fixture(scope="session")
def ctx(contexts):
    return contexts[0]


@pytest.fixture(scope="session")
def other_ctx(contexts):
    """The context of a second device."""
    if len(contexts) < 2:
        pytest.skip("needs two devices")
    return contexts[1]


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
    """Work of the test's own for the default stream."""
    return Queue(driver)


@pytest.fixture
def make_stream(driver, current):
    """A factory for work on streams of the test's own."""
    made = []

    def make(flags):
        made.append(ctypes.c_void_p())
        driver.call("cuStreamCreate", ctypes.byref(made[-1]), flags)
        return Queue(driver, made[-1])

    yield make
    for stream in made:
        driver.call("cuStreamSynchronize", stream)
        driver.call("cuStreamDestroy_v2", stream)


@pytest.fixture
def stream(ctx, current):
    """A stream of the package's that only waits for itself."""
    from pyarrow_cuda_compat import Stream

    yield Stream(ctx, non_blocking=True)
    ctx.synchronize()


@pytest.fixture
def begin(driver, stream):
    """Keeps the stream busy for a while from the call on, and gives it.

    To be called when all memory is there: a driver may wait for the device to allocate more.
    """
    queue = Queue(driver, ctypes.c_void_p(stream.handle))

    def begin():
        queue.sleep()
        assert not stream.query()
        return stream

    return begin


@pytest.fixture
def make_event(driver, current):
    """A factory for events of the test's own, without timing."""
    made = []

    def make():
        made.append(ctypes.c_void_p())
        driver.call("cuEventCreate", ctypes.byref(made[-1]), 2)
        return made[-1]

    yield make
    for event in made:
        driver.call("cuEventDestroy_v2", event)


@pytest.fixture
def guarded(ctx):
    """A factory for buffers between guard bytes, which must be intact in the end."""
    wholes = []

    def make(size, context=ctx):
        whole = context.new_buffer(size + 2 * GUARD)
        whole.copy_from_host(PATTERN + bytes(size) + PATTERN)
        wholes.append(whole)
        return whole.slice(GUARD, size)

    yield make
    while wholes:
        content = wholes.pop().to_pybytes()
        assert content[:GUARD] == PATTERN, "the guard before the buffer was written to"
        assert content[-GUARD:] == PATTERN, "the guard behind the buffer was written to"


def _run_python(code, *arguments, timeout=120, **env):
    """Runs a script in a fresh interpreter: (returncode, stdout, stderr).

    A variable given as None is taken out of the environment.
    """
    environment = os.environ | {key: value for key, value in env.items() if value is not None}
    for key in [key for key, value in env.items() if value is None]:
        environment.pop(key, None)
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        env=environment,
        cwd=tempfile.gettempdir(),
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.fixture(scope="session")
def run_python():
    return _run_python


@pytest.fixture(autouse=True)
def no_leaks(request, contexts):
    """Each test releases what it allocates, unless it is marked `leaks`."""
    before = [context.bytes_allocated for context in contexts]
    failed_before = request.session.testsfailed
    yield
    if request.node.get_closest_marker("leaks") or request.session.testsfailed > failed_before:
        return  # a failed test's traceback keeps its buffers

    def leaked():
        # Less is fine: a cycle of an earlier test may have gone meanwhile.
        now = [context.bytes_allocated for context in contexts]
        return [max(after - was, 0) for after, was in zip(now, before, strict=True)]

    request.node.funcargs.clear()  # what fixtures gave to the test
    if any(leaked()):
        gc.collect()
    assert not any(leaked()), f"bytes that stay allocated on each device: {leaked()}"


def pytest_collection_modifyitems(items):
    simulated = os.environ.get("PYARROW_CUDA_DRIVER", "").endswith(("sim", "libcuda_sim.so"))
    for item in items:
        if item.get_closest_marker("simulator") and not simulated:
            item.add_marker(pytest.mark.skip(reason="asks the simulator"))
        if item.get_closest_marker("hardware") and simulated:
            item.add_marker(pytest.mark.skip(reason="needs a real GPU"))
