"""Memory of other libraries' allocators, and ours as theirs."""

import ctypes
import gc
import sys
import threading
import types

import numpy as np
import pyarrow as pa
import pytest

import pyarrow_cuda_compat as compat
from pyarrow_cuda_compat import Context, DeviceArray, memory_stats, set_allocator
from support.samples import CPU
from support.threads import in_threads
from support.work import Queue

TABLE = pa.table({"x": [1, None, 3], "s": ["a", "bc", None]})


@pytest.fixture(autouse=True)
def undone(contexts):
    yield
    for context in contexts:
        set_allocator(None, context)
    gc.collect()


class Resource:
    """As RMM's memory resources: the current device, addresses, a stream by default."""

    def __init__(self, driver):
        self.driver = driver
        self.allocated, self.released = {}, []
        self.contexts, self.threads = [], []

    def allocate(self, nbytes, stream=None):
        address = ctypes.c_uint64()
        self.contexts.append(self.driver.current())
        self.driver.call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(nbytes))
        self.allocated[address.value] = nbytes
        return address.value

    def deallocate(self, ptr, nbytes, stream=None):
        assert self.allocated.pop(ptr) == nbytes
        self.contexts.append(self.driver.current())
        self.threads.append(threading.current_thread())
        self.driver.call("cuMemFree_v2", ctypes.c_uint64(ptr))
        self.released.append(nbytes)


class Pointer:
    """As CuPy's: owns memory, and has its address."""

    def __init__(self, resource, size):
        self.resource, self.size = resource, size
        self.ptr = resource.allocate(size)

    def __del__(self):
        self.resource.deallocate(self.ptr, self.size)


@pytest.fixture
def resource(driver, ctx):
    resource = Resource(driver)
    yield resource
    set_allocator(None)
    gc.collect()
    assert resource.allocated == {}
    assert set(resource.contexts) <= {ctx.handle}, "the device's context is current"


FORMS = {
    "resource": lambda resource: resource,
    "functions": lambda resource: (resource.allocate, resource.deallocate),
    "owners": lambda resource: lambda size: Pointer(resource, size),
}


@pytest.mark.parametrize("form", FORMS)
def test_buffers_are_made_of_it(ctx, resource, form):
    before = memory_stats(ctx)
    set_allocator(FORMS[form](resource), ctx)
    buffer = ctx.buffer_from_data(b"theirs")
    assert resource.allocated == {buffer.address: 6}
    assert buffer.to_pybytes() == b"theirs"
    part = buffer.slice(2, 3)
    del buffer
    assert resource.released == []
    assert part.to_pybytes() == b"eir"
    assert memory_stats(ctx) == before, "it is not counted"
    del part
    gc.collect()
    assert resource.released == [6]


def everything(ctx):
    """What allocates device memory for its user."""
    batch = TABLE.to_batches()[0]
    message = compat.serialize_record_batch(batch, ctx)
    yield message
    yield compat.read_record_batch(message, batch.schema)
    yield TABLE.copy_to(ctx.memory_manager)
    yield TABLE["x"].chunk(0).copy_to(ctx.memory_manager)
    yield DeviceArray.from_host(np.arange(6).reshape(2, 3))
    yield ctx.buffers_from_data([b"one", b"", b"three"])
    yield pa.py_buffer(b"host").copy(ctx.memory_manager)


def test_all_ways_of_allocating(ctx, resource):
    set_allocator(resource)
    # Empty buffers need none.
    assert ctx.new_buffer(0).size == 0
    assert ctx.buffers_from_data([b"", b""])[1].size == 0
    assert resource.contexts == []
    made = list(everything(ctx))
    before = ctx.bytes_allocated
    assert len(resource.contexts) >= 6
    assert made[2].copy_to(CPU).equals(TABLE)
    assert made[4].copy_to_host().tolist() == [[0, 1, 2], [3, 4, 5]]
    assert [buffer.to_pybytes() for buffer in made[5]] == [b"one", b"", b"three"]
    assert ctx.bytes_allocated == before
    del made


def test_each_device_has_its_own(ctx, other_ctx, driver):
    resource = Resource(driver)
    set_allocator(resource, 1)
    here, there = ctx.buffer_from_data(b"here"), other_ctx.buffer_from_data(b"there")
    assert resource.allocated == {there.address: 5}
    assert resource.contexts == [other_ctx.handle]
    assert here.to_pybytes() + there.to_pybytes() == b"herethere"
    del there
    gc.collect()
    assert resource.contexts == [other_ctx.handle] * 2


def test_what_it_raises_is_raised(ctx):
    class Own(Exception):
        pass

    for error in (Own("none left"), MemoryError("std::bad_alloc"), KeyboardInterrupt()):

        def refuse(size, error=error):
            raise error

        set_allocator((refuse, print))
        with pytest.raises(type(error)) as raised:
            ctx.new_buffer(5)
        assert raised.value is error
        # Functions of pyarrow itself have a text only.
        with pytest.raises(MemoryError if isinstance(error, MemoryError) else OSError) as raised:
            TABLE.copy_to(ctx.memory_manager)
        assert type(error).__name__ in str(raised.value)
    set_allocator(None)
    assert ctx.new_buffer(5).size == 5


NONSENSE = {
    "none": (None, TypeError, "returned NoneType, not the address"),
    "a fraction": (256.0, TypeError, "returned float, not the address"),
    "negative": (-256, TypeError, "returned int, not the address"),
    "huge": (1 << 70, TypeError, "returned int, not the address"),
    "true": (True, ValueError, "returned 0x1: not a multiple of 256"),
    "nowhere": (1 << 40, ValueError, "0x10000000000: memory that the driver does not know"),
}


@pytest.mark.parametrize("name", NONSENSE)
def test_nonsense_is_refused(ctx, name):
    result, error, text = NONSENSE[name]
    released = []
    set_allocator((lambda size: result, lambda *freed: released.append(freed)))
    with pytest.raises(error, match=text):
        ctx.new_buffer(100)
    gc.collect()
    assert released in ([], [(result, 100)])


def test_memory_that_does_not_fit_is_refused_and_released(ctx, other_ctx, cuda):
    set_allocator(None)
    small, elsewhere = ctx.new_buffer(5000), other_ctx.new_buffer(20_000)
    pinned = cuda.new_host_buffer(20_000)
    released = []
    for given, text in (
        (small, "size argument is out-of-range"),
        (elsewhere, "lies on device 1"),
        (pinned, "memory of the host"),
    ):
        set_allocator((lambda size, given=given: given.address, lambda *it: released.append(it)))
        with pytest.raises(ValueError, match=text):
            ctx.new_buffer(10_000)
        assert released.pop() == (given.address, 10_000)
    set_allocator((lambda size: small.address + 1, print))
    with pytest.raises(ValueError, match="not a multiple of 256"):
        ctx.new_buffer(1)


def test_owners_without_an_address_are_refused(ctx):
    class Strange:
        @property
        def ptr(self):
            raise ValueError("not now")

    for owner, error, text in (
        (1, TypeError, "returned int, which has no 'ptr'"),
        (types.SimpleNamespace(ptr="x"), TypeError, "returned str, not the address"),
        (Strange(), ValueError, "not now"),
    ):
        set_allocator(lambda size, owner=owner: owner)
        with pytest.raises(error, match=text):
            ctx.new_buffer(1)


def test_what_is_not_an_allocator(own_context):
    for wrong in (0, "x", (print,), (print, print, print), (print, 1), (1, print), ()):
        with pytest.raises(TypeError, match="an allocator is a memory resource"):
            set_allocator(wrong)
    with pytest.raises(ValueError, match="primary context"):
        set_allocator(print, Context(0, own_context))


def test_allocators_that_allocate_get_our_memory(ctx, resource):
    inner = []

    def allocate(size):
        inner.append(ctx.buffer_from_data(b"inner"))
        TABLE.copy_to(ctx.memory_manager)
        return resource.allocate(size)

    set_allocator((allocate, resource.deallocate))
    buffer = ctx.buffer_from_data(b"outer")
    assert len(resource.allocated) == 1
    assert inner[0].to_pybytes() + buffer.to_pybytes() == b"innerouter"
    set_allocator((lambda size: ctx.new_buffer(size).address, print))
    set_allocator(ctx.new_buffer)  # endless, if it asked itself
    with pytest.raises(TypeError, match="CudaBuffer, which has no 'ptr'"):
        ctx.new_buffer(1)


def test_allocators_that_are_replaced_meanwhile(ctx, resource):
    def allocate(size):
        set_allocator(None)
        return resource.allocate(size)

    set_allocator((allocate, resource.deallocate))
    buffer = ctx.buffer_from_data(b"last")
    assert list(resource.allocated) == [buffer.address]
    ours = ctx.new_buffer(10)
    assert ctx.bytes_allocated >= ours.size


def test_what_a_release_raises_is_reported(ctx, resource, monkeypatch):
    heard = []
    monkeypatch.setattr(sys, "unraisablehook", lambda told: heard.append(told.exc_value))

    def deallocate(address, size):
        resource.deallocate(address, size)
        raise ValueError("no such memory")

    set_allocator((resource.allocate, deallocate))
    ctx.new_buffer(10)
    assert [str(error) for error in heard] == ["no such memory"]
    heard.clear()


def test_releases_without_the_gil_are_made_on_the_main_thread(ctx, resource):
    set_allocator(resource)
    there = TABLE.copy_to(ctx.memory_manager)
    set_allocator(None)
    reader = pa.RecordBatchReader.from_batches(there.schema, iter(there.to_batches()))
    thread = threading.Thread(target=reader.close)
    del there
    thread.start()
    thread.join()
    del reader, thread
    gc.collect()
    assert resource.allocated == {}
    assert all(thread is threading.main_thread() for thread in resource.threads)


def test_threads_allocate(ctx, resource):
    set_allocator(resource)

    def work(number):
        for size in range(1, 40):
            mark = bytes([number]) * size
            assert ctx.buffer_from_data(mark).to_pybytes() == mark
            assert TABLE.copy_to(ctx.memory_manager).copy_to(CPU).equals(TABLE)

    in_threads(work, 5)


@pytest.mark.leaks
def test_whole_allocations_can_be_exported(ctx, resource, driver):
    set_allocator((resource.allocate, lambda *freed: pytest.fail("other processes may use it")))
    buffer = ctx.buffer_from_data(b"whole")
    handle = buffer.slice(1, 3).export_for_ipc()
    assert len(handle.serialize()) == 8 + 64 + 8
    del buffer
    gc.collect()
    resource.allocated.clear()


def test_memory_of_asynchronous_pools_is_not_exported(ctx, driver, current):
    address = ctypes.c_uint64()
    driver.call("cuMemAllocAsync", ctypes.byref(address), ctypes.c_size_t(4096), None)
    set_allocator((lambda size: address.value, lambda *freed: None))
    buffer = ctx.new_buffer(4096)
    buffer.copy_from_host(b"in a pool")
    assert buffer.slice(0, 9).to_pybytes() == b"in a pool"
    with pytest.raises(pa.ArrowInvalid, match="it is not a whole allocation of cudaMalloc"):
        buffer.export_for_ipc()
    del buffer
    driver.call("cuMemFreeAsync", address, None)


def test_an_allocation_waits_for_the_default_stream(ctx, resource, driver, current):
    queue = Queue(driver)
    set_allocator(resource)
    queue.sleep()
    ctx.new_buffer(100)
    assert queue.is_idle()


CHILD = """
import ctypes, os, sys, warnings
import pyarrow as pa, pyarrow_cuda_compat as compat
from support.driver import the_driver
warnings.simplefilter("ignore")
ctx, driver = compat.Context(0), the_driver()

def allocate(size):
    address = ctypes.c_uint64()
    driver.call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(size))
    return address.value

def deallocate(address, size):
    print("released", size, flush=True)

compat.set_allocator((allocate, deallocate))
kept = ctx.buffer_from_data(b"kept")
table = pa.table({"x": [1]}).copy_to(ctx.memory_manager)
"""


def test_the_end_of_the_process_releases_nothing(run_python):
    code = CHILD + "sys.modules['kept'] = kept; pa.kept = table; del kept, table"
    assert run_python(code) == (0, "", "")


def test_a_forked_child_calls_no_allocator(run_python):
    code = """
child = os.fork()
if not child:
    del kept, table
    try:
        ctx.new_buffer(5)
    except OSError as error:
        assert str(error).startswith("Cuda error 3 ")
    try:
        compat.set_allocator(None)
    except OSError:
        os._exit(7)
    os._exit(1)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
os._exit(0)
"""
    assert run_python(CHILD + code) == (0, "7\n", "")


# --- ours as theirs ------------------------------------------------------------------------------


@pytest.fixture
def cupy(monkeypatch, driver):
    """What this package uses of CuPy."""

    class UnownedMemory:
        def __init__(self, ptr, size, owner, device_id=-1):
            self.ptr, self.size, self._owner, self.device_id = ptr, size, owner, device_id

    class MemoryPointer:
        def __init__(self, mem, offset):
            self.mem, self.ptr = mem, mem.ptr + offset

    module, cuda = types.ModuleType("cupy"), types.ModuleType("cupy.cuda")
    module.cuda, cuda.UnownedMemory, cuda.MemoryPointer = cuda, UnownedMemory, MemoryPointer
    cuda.device = 0
    cuda.runtime = types.SimpleNamespace(getDevice=lambda: cuda.device)
    monkeypatch.setitem(sys.modules, "cupy", module)
    monkeypatch.setitem(sys.modules, "cupy.cuda", cuda)
    return cuda


def test_cupy_allocates_in_our_memory(contexts, cupy):
    from pyarrow_cuda_compat.cupy import allocator

    for number, context in enumerate(contexts):
        cupy.device, before = number, context.bytes_allocated
        pointer = allocator(1000)
        assert (pointer.mem.size, pointer.mem.device_id) == (1000, number)
        assert context.bytes_allocated - before == 1000
        context.foreign_buffer(pointer.ptr, 1000).fill(1)
        del pointer
        assert context.bytes_allocated == before
    assert allocator(0).mem.size == 0
    with pytest.raises(ValueError, match="-1 bytes"):
        allocator(-1)
    with pytest.raises(MemoryError):
        allocator(1 << 60)


@pytest.mark.parametrize(
    ("name", "function"), [("rmm", "memory_resource()"), ("cupy", "allocator(1)")]
)
def test_without_the_library(run_python, name, function):
    code = f"""
import sys
sys.modules[{name!r}] = None
import pyarrow_cuda_compat.{name} as theirs
try:
    theirs.{function}
except ImportError as error:
    print(error.name, error)
"""
    status, out, err = run_python(code)
    assert (status, err) == (0, "")
    assert out.startswith(f"{name} this needs ")


def test_deallocating_may_allocate(ctx, driver):
    """Its buffers are the context's own memory: otherwise it would be asked again, and again."""

    class Allocating(Resource):
        def deallocate(self, ptr, nbytes, stream=None):
            assert ctx.buffer_from_data(b"own").to_pybytes() == b"own"
            super().deallocate(ptr, nbytes)

    resource = Allocating(driver)
    set_allocator(resource)
    ctx.new_buffer(100)
    assert resource.released == [100]

    class Owner(Pointer):
        def __del__(self):
            ctx.new_buffer(3)
            super().__del__()

    resource = Resource(driver)
    set_allocator(lambda nbytes: Owner(resource, nbytes))
    ctx.new_buffer(200)
    assert resource.released == [200]


def test_an_allocator_that_is_full_is_asked_again_when_work_has_gone(ctx, driver):
    class Small(Resource):
        def allocate(self, nbytes, stream=None):
            if sum(self.allocated.values()) + nbytes > 1000:
                raise MemoryError("full")
            return super().allocate(nbytes)

    resource = Small(driver)
    set_allocator(resource)
    stream = compat.Stream(ctx, non_blocking=True)
    buffer = ctx.new_buffer(1000)
    buffer.fill(1, stream=stream)
    del buffer
    assert ctx.new_buffer(900).size == 900
    with pytest.raises(MemoryError, match="full"):
        ctx.new_buffer(1001)
