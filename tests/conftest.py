"""What all tests share: the driver in use, guarded memory, fresh interpreters, leak checks."""

import ctypes
import gc
import os
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from support.driver import IS_SIMULATOR, the_driver
from support.peer import Peer
from support.streams import pointer
from support.work import Queue

# Fixtures here hold no state that examples change, and time says nothing on a shared machine.
settings.register_profile(
    "tests",
    deadline=None,
    database=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
settings.register_profile("long", settings.get_profile("tests"), max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "tests"))

# By default the number of threads that copy depends on the machine's cores; tests of them set it.
if IS_SIMULATOR:
    os.environ.setdefault("PYARROW_CUDA_COPY_THREADS", "0")

# Most tests show what a program meets without libcudf; those of `compute` choose it.
os.environ.setdefault("PYARROW_CUDA_COMPUTE_ENGINE", "none")

TESTS = Path(__file__).parent
# Work that keeps a stream busy for a time, and what needs another process.
TIMED = {"begin", "default_stream", "make_stream"}
# Only the simulator answers them.
ASKING = {"calls", "fault"}
SUBPROCESSES = {"cluster", "command", "interpreter", "peer", "peers", "run_python"}
GUARD = 64
PATTERN = bytes((7 * index + 0x5A) % 251 + 1 for index in range(GUARD))


@pytest.fixture(scope="session")
def cuda():
    from pyarrow import cuda

    return cuda


@pytest.fixture(scope="session")
def is_simulator():
    return IS_SIMULATOR


@pytest.fixture(scope="session")
def driver(cuda, is_simulator):
    view = the_driver()
    view.call("cuInit", 0)
    if is_simulator:
        view.library.cuda_sim_live_allocations.restype = ctypes.c_uint64
        view.library.cuda_sim_live_host_allocations.restype = ctypes.c_uint64
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
def allocated(ctx):
    """How many bytes more are allocated than when the test began."""
    before = ctx.bytes_allocated
    return lambda: ctx.bytes_allocated - before


@pytest.fixture
def memory(ctx):
    """A buffer whose bytes are 0 to 99."""
    return ctx.buffer_from_data(bytes(range(100)))


@pytest.fixture
def current(ctx, driver):
    """The context is current for the test's own driver calls."""
    before = driver.current()
    driver.set_current(ctx.handle)
    yield
    ctx.synchronize()
    driver.set_current(before)


@pytest.fixture
def own_context(driver):
    """The handle of a context beside the primary one."""
    handle = driver.create_context()
    yield handle
    driver.destroy_context(handle)


@pytest.fixture
def default_stream(driver, current):
    """Work of the test's own for the default stream."""
    queue = Queue(driver)
    yield queue
    queue.finish()


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
    """A non-blocking stream of the package."""
    from pyarrow_cuda_compat import Stream

    yield Stream(ctx, non_blocking=True)
    ctx.synchronize()


@pytest.fixture
def queue(driver, stream):
    """Work of the test's own for the stream."""
    queue = Queue(driver, pointer(stream))
    yield queue
    queue.finish()


@pytest.fixture
def begin(stream, queue):
    """Keeps the stream busy for a while from the call on, and gives it.

    To be called when all memory is there: a driver may wait for the device to allocate more.
    """

    def begin():
        queue.sleep()
        assert not stream.query()
        return stream

    return begin


@pytest.fixture
def calls(driver):
    """How often driver functions of the simulator are called during some work, several in a tuple
    counted together."""

    def count(work, *names):
        def ask(name):
            each = name if isinstance(name, tuple) else (name,)
            return sum(map(driver.library.cuda_sim_call_count, each))

        before = [ask(name) for name in names]
        result = work()
        return result, [ask(name) - was for name, was in zip(names, before, strict=True)]

    return count


@pytest.fixture
def fault(driver):
    """Has calls of the simulator's driver fail, as CUDA_SIM_FAULT does."""
    yield lambda spec: driver.library.cuda_sim_fault(spec.encode())
    driver.library.cuda_sim_fault(b"")


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


def _interpreter(*arguments, timeout=120, cwd=None, **env):
    """Runs Python with these arguments, and returns the finished process.

    It finds `support`, unless the test sets PYTHONPATH, and what is there for these tests.  A
    variable given as None is taken out of the environment.
    """
    paths = [env.pop("PYTHONPATH", str(TESTS)), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
    environment |= {key: value for key, value in env.items() if value is not None}
    for key in [key for key, value in env.items() if value is None]:
        environment.pop(key, None)
    return subprocess.run(
        [sys.executable, *map(str, arguments)],
        env=environment,
        cwd=cwd or tempfile.gettempdir(),
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )


@pytest.fixture(scope="session")
def interpreter():
    return _interpreter


@pytest.fixture(scope="session")
def command():
    """Runs a command of the package."""
    return partial(_interpreter, "-m", "pyarrow_cuda_compat")


@pytest.fixture(scope="session")
def run_python():
    """Runs a script in a fresh interpreter: (returncode, stdout, stderr)."""

    def run(code, *arguments, **options):
        done = _interpreter("-c", code, *arguments, **options)
        return done.returncode, done.stdout, done.stderr

    return run


@pytest.fixture
def peer():
    """Another process, which has to end well."""
    other = Peer()
    yield other
    try:
        assert other.end() == (0, "")
    finally:
        other.kill()


@pytest.fixture(autouse=True)
def none_is_left_current(driver):
    """Numba pushes a context and leaves it so; the next test begins without."""
    yield
    while driver.current():
        driver.set_current(0)  # takes one off the thread's stack


@pytest.fixture(autouse=True)
def limits_are_restored(cuda):
    """A test, or an example in the documentation, may set how copies are made."""
    import pyarrow_cuda_compat

    before = pyarrow_cuda_compat.transfer_limits()
    yield
    if pyarrow_cuda_compat.transfer_limits() != before:
        pyarrow_cuda_compat.set_transfer_limits(**before)


@pytest.fixture(autouse=True)
def no_leaks(request, contexts):
    """Each test releases what it allocates, unless it is marked `leaks`."""
    if any(context.bytes_allocated for context in contexts):
        # A cycle of an earlier test would go at any time, and tests count bytes.
        collect()
    before = [context.bytes_allocated for context in contexts]
    failed_before = request.session.testsfailed
    yield
    if request.node.get_closest_marker("leaks") or request.session.testsfailed > failed_before:
        return  # a failed test's traceback keeps its buffers

    def leaked():
        # Less is fine: a test may release what a fixture of its module holds.
        now = [context.bytes_allocated for context in contexts]
        return [max(after - was, 0) for after, was in zip(now, before, strict=True)]

    request.node.funcargs.clear()  # what fixtures gave to the test
    if any(leaked()):
        gc.collect()
    assert not any(leaked()), f"bytes that stay allocated on each device: {leaked()}"


def collect():
    """Collects garbage; what is left belongs to modules, and takes long to walk over each time."""
    gc.collect()
    gc.freeze()


def pytest_collection_finish():
    collect()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    for item in items:
        fixtures = set(item.fixturenames)
        if fixtures & TIMED:
            item.add_marker("alone")
        if fixtures & SUBPROCESSES:
            item.add_marker("subprocesses")
        asks = fixtures & ASKING or item.get_closest_marker("simulator")
        if asks and not IS_SIMULATOR:
            item.add_marker(pytest.mark.skip(reason="asks the simulator"))
        if item.get_closest_marker("hardware") and IS_SIMULATOR:
            item.add_marker(pytest.mark.skip(reason="needs a real GPU"))
