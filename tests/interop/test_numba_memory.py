"""Numba's arrays in our memory: the external memory manager, with Numba itself.

Most tests make a memory manager beside the one that Numba has.  The others run in processes of
their own, because Numba chooses its memory manager once and for all.
"""

import gc
import importlib.util
from types import SimpleNamespace

import numpy as np
import pytest

import pyarrow_cuda_compat as compat
from pyarrow_cuda_compat.numba import memory_manager
from support.threads import in_threads

pytestmark = [pytest.mark.foreign, pytest.mark.filterwarnings("default")]

PACKAGES = [
    package
    for package, top in (("numba.cuda", "numba_cuda"), ("numba_cuda_mlir.cuda", "numba_cuda_mlir"))
    if importlib.util.find_spec(top)
]


@pytest.fixture
def managers(numba_cuda):
    """A memory manager for each device's context of Numba."""
    made = [memory_manager(context=gpu.get_primary_context()) for gpu in numba_cuda.gpus]
    for manager in made:
        manager.initialize()
    yield made
    for manager in made:
        manager.reset()


@pytest.fixture
def manager(managers):
    return managers[0]


@pytest.mark.parametrize(
    "wrong", [0, "context", pytest.param(object(), id="object"), SimpleNamespace()], ids=repr
)
def test_what_is_no_context_is_refused(wrong):
    with pytest.raises(TypeError, match=f"Numba CUDA context, got {type(wrong).__name__}$"):
        memory_manager(context=wrong)


def test_memory_is_counted_as_long_as_it_is_there(manager, allocated):
    pointer = manager.memalloc(np.int64(1000))
    assert (pointer.size, allocated()) == (1000, 1000)
    view = pointer.view(10, 20)
    assert (view.size, view.device_pointer_value) == (10, pointer.device_pointer_value + 10)
    part = view.view(2, 4)
    del pointer, view
    gc.collect()
    assert allocated() == 1000
    del part
    assert allocated() == 0
    assert not manager.allocations
    pointer = manager.memalloc(100)
    manager.allocations[pointer.device_pointer_value].free()  # by hand
    assert allocated() == 0


def test_each_device_has_its_own(managers, contexts, other_ctx):
    before = [ctx.bytes_allocated for ctx in contexts[:2]]
    pointer = managers[1].memalloc(100)
    assert [ctx.bytes_allocated for ctx in contexts[:2]] == [before[0], before[1] + 100]
    assert pointer.context.device.id == 1


def test_a_context_may_name_its_device_by_the_drivers_number(numba_driver, ctx, allocated):
    class CUdevice:
        def __int__(self):
            return 0

    theirs = ctx.to_numba()
    manager = memory_manager(context=numba_driver.Context(CUdevice(), theirs.handle))
    pointer = manager.memalloc(10)
    assert allocated() == 10
    del pointer


@pytest.mark.usefixtures("numba_cuda")
def test_a_context_that_is_not_primary(cuda, own_context):
    ours = cuda.Context(0, own_context)
    manager = memory_manager(context=ours.to_numba())
    pointer = manager.memalloc(10)
    assert ours.bytes_allocated == 10
    del pointer
    assert ours.bytes_allocated == 0


def test_a_context_of_another_driver_is_refused(numba_driver, ctx):
    handle = type(ctx.to_numba().handle)(0x1230)
    manager = memory_manager(context=numba_driver.Context(SimpleNamespace(id=0), handle))
    with pytest.raises(RuntimeError, match="PYARROW_CUDA_DRIVER"):
        manager.memalloc(10)
    manager = memory_manager(context=numba_driver.Context(SimpleNamespace(id=99), handle))
    with pytest.raises(RuntimeError, match="another CUDA driver"):
        manager.initialize()


def test_no_bytes(cuda, manager, allocated):
    pointers = [manager.memalloc(0) for _ in range(2)]
    assert [(mem.size, mem.device_pointer_value) for mem in pointers] == [(0, None)] * 2
    assert cuda.CudaBuffer.from_numba(pointers[0]).size == 0
    with pytest.raises(ValueError, match="empty memory"):
        manager.get_ipc_handle(pointers[0])
    assert allocated() == 0


@pytest.mark.parametrize("size", [-1, 1.5, "10", None], ids=repr)
def test_what_is_no_size_is_refused(manager, size):
    with pytest.raises((ValueError, TypeError)):
        manager.memalloc(size)


def test_no_room_is_numbas_own_error(numba_driver, manager):
    with pytest.raises(numba_driver.CudaAPIError) as caught:
        manager.memalloc(1 << 50)
    assert caught.value.code is numba_driver.binding.CUresult.CUDA_ERROR_OUT_OF_MEMORY
    assert "cuMemAlloc" in caught.value.msg


@pytest.mark.alone
def test_what_waits_for_its_release_makes_room(manager):
    most = manager.get_memory_info().free // 8 * 5
    manager.deallocations.memory_capacity *= 100  # Numba keeps so much at most
    with manager.deallocations.disable():
        manager.memalloc(most)
    assert len(manager.deallocations) == 1
    assert manager.memalloc(most).size == most
    assert not manager.deallocations


@pytest.mark.simulator
@pytest.mark.parametrize(
    ("code", "told"), [(1, "<CUresult.CUDA_ERROR_INVALID_VALUE: 1>"), (12345, "12345")]
)
def test_other_failures_of_the_driver(numba_driver, manager, ctx, fault, code, told):
    compat.empty_cache(ctx)
    fault(f"cuMemAlloc_v2:1+={code}")
    with pytest.raises(numba_driver.CudaAPIError) as caught:
        manager.memalloc(100 << 20)
    assert repr(caught.value.code) == told
    assert caught.value.msg.startswith(f"Cuda error {code} in function 'cuMemAlloc'")


def test_releases_may_be_put_off(manager, allocated):
    with manager.defer_cleanup():
        with manager.defer_cleanup():
            manager.memalloc(100)
            assert allocated() == 100
        assert allocated() == 100
        manager.deallocations.clear()
        assert allocated() == 100
    assert allocated() == 0
    block = manager.defer_cleanup()
    block.__enter__()
    manager.memalloc(100)
    assert not block.__exit__(KeyError, KeyError(), None)
    assert allocated() == 0


def test_buffers_over_the_memory_own_it(cuda, manager, allocated):
    pointer = manager.memalloc(100)
    whole = cuda.CudaBuffer.from_numba(pointer)
    part = cuda.CudaBuffer.from_numba(pointer.view(10, 30).view(5, 10))
    assert (whole.address, whole.size) == (pointer.device_pointer_value, 100)
    assert (part.address, part.size) == (whole.address + 15, 5)
    assert whole.is_mutable
    whole.copy_from_host(bytes(range(100)))
    del pointer, whole
    gc.collect()
    assert allocated() == 100
    assert part.to_pybytes() == bytes(range(15, 20))


def test_a_pointer_that_claims_more_than_there_is(cuda, manager):
    pointer = manager.memalloc(100)
    wrong = pointer.view(0, 100)._view
    wrong.size = 101
    with pytest.raises(ValueError, match=r"100|101"):
        cuda.CudaBuffer.from_numba(wrong)


def test_a_reset_takes_the_memory_from_arrays_only(cuda, manager, allocated):
    lost, shared = manager.memalloc(100), manager.memalloc(10)
    buf = cuda.CudaBuffer.from_numba(shared)
    buf.copy_from_host(b"0123456789")
    manager.reset()
    assert allocated() == 10
    assert buf.to_pybytes() == b"0123456789"
    for pointer in (lost, shared):
        with pytest.raises(ValueError, match="reset"):
            cuda.CudaBuffer.from_numba(pointer)
    del pointer, lost, shared
    assert manager.memalloc(10).size == 10


def test_any_thread_releases(manager, allocated):
    held = [manager.memalloc(size) for size in range(1, 400)]

    def work(_number):
        while held:
            try:
                pointer = held.pop()
            except IndexError:
                return
            again = manager.memalloc(pointer.size)
            again.view(0, 1)

    in_threads(work, 4)
    assert allocated() == 0
    assert not manager.allocations


@pytest.mark.alone
def test_how_much_memory_there_is(manager, driver, current):
    info = manager.get_memory_info()
    assert 0 < info.free <= info.total
    assert info.total == driver.memory_info()[1]
    assert manager.deallocations.memory_capacity == info.total


def opened_by(peer, handle):
    """The memory of a Numba handle, opened as ours in another process."""
    message = handle.size.to_bytes(8, "little") + handle.handle.reserved
    message += handle.offset.to_bytes(8, "little") if handle.offset else b""
    peer(f"buffer = opened('{message.hex()}')")
    return peer("buffer.to_pybytes()")


@pytest.mark.leaks
def test_another_process_reads_it(cuda, manager, current, peer):
    pointer = manager.memalloc(100)
    cuda.CudaBuffer.from_numba(pointer).copy_from_host(bytes(range(100)))
    view = pointer.view(20, 50)
    handle = manager.get_ipc_handle(view)
    assert (handle.base, handle.size, handle.offset) == (view, 30, 20)
    assert opened_by(peer, handle) == bytes(range(20, 50))
    whole = manager.get_ipc_handle(pointer)
    assert (whole.size, whole.offset) == (100, 0)
    assert whole.handle.reserved == handle.handle.reserved


@pytest.mark.leaks
def test_exported_memory_stays(cuda, manager, ctx, allocated, current, peer):
    pointer = manager.memalloc(100)
    cuda.CudaBuffer.from_numba(pointer).copy_from_host(bytes(range(100)))
    handle = manager.get_ipc_handle(pointer)
    handle.base = None
    del pointer
    gc.collect()
    others = [ctx.buffer_from_data(b"!" * 100) for _ in range(10)]
    assert opened_by(peer, handle) == bytes(range(100))
    del others
    assert allocated() == 100


@pytest.mark.leaks
def test_memory_that_came_back_as_foreign_is_known(numba_driver, manager, ctx, current, peer):
    pointer = manager.memalloc(100)
    address = numba_driver.binding.CUdeviceptr(pointer.device_pointer_value + 40)
    foreign = numba_driver.MemoryPointer(pointer.context, address, 10, owner=object())
    assert manager.get_ipc_handle(foreign).offset == 40
    shown = ctx.buffer_from_data(b"0123456789").slice(2, 5).to_numba()
    assert opened_by(peer, manager.get_ipc_handle(shown)) == b"23456"


@pytest.mark.leaks
def test_memory_of_others_is_exported_as_numba_does(numba_cuda, manager, current):
    theirs = numba_cuda.to_device(np.zeros(10, "u1")).gpu_data
    handle = manager.get_ipc_handle(theirs)
    assert (handle.base, handle.size, handle.offset) == (theirs, 10, 0)


@pytest.mark.leaks
def test_memory_of_another_device_names_that_one(numba_cuda, managers, other_ctx, current):
    handle = managers[0].get_ipc_handle(managers[1].memalloc(10))
    assert handle.source_info == numba_cuda.gpus[1].get_device_identity()


NUMBAS = """
import gc, pickle, subprocess, sys, warnings
warnings.simplefilter("ignore")
import importlib
import numpy as np
numba_cuda = importlib.import_module(sys.argv[1])
from pyarrow import cuda
ctx = cuda.Context(0)
"""


@pytest.fixture
def run_with_manager(run_python, tmp_path):
    """Runs a program with a Numba package that has our memory manager."""

    def run(code, package):
        program = tmp_path / "program.py"
        program.write_text(NUMBAS + code)  # a compiler of kernels may ask for their source
        start = "import runpy, sys; runpy.run_path(sys.argv.pop(1), run_name='__main__')"
        manager = "pyarrow_cuda_compat.numba"
        return run_python(start, program, package, NUMBA_CUDA_MEMORY_MANAGER=manager)

    return run


EXPORT = """
script = '''
import importlib, pickle, sys
import numpy as np
numba_cuda = importlib.import_module(sys.argv[1])
handle = pickle.loads(sys.stdin.buffer.read())
with handle as array:
    print(array.copy_to_host().tolist())
'''
import os
for manager in ("default", "pyarrow_cuda_compat.numba"):
    array = numba_cuda.to_device(np.arange(20))
    handle = pickle.dumps(array[5:10].get_ipc_handle())
    del array
    gc.collect()
    others = [numba_cuda.to_device(np.zeros(20)) for _ in range(10)]
    other = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script, sys.argv[1]],
        input=handle,
        env=os.environ | {"NUMBA_CUDA_MEMORY_MANAGER": manager},
        capture_output=True,
        check=False,
    )
    print(other.stdout.decode(), other.stderr.decode(), end="")
    del others
    gc.collect()
    print(ctx.bytes_allocated)
"""


@pytest.mark.parametrize("package", PACKAGES)
def test_numba_exports_from_here(run_with_manager, package):
    told = "[5, 6, 7, 8, 9]\n 160\n[5, 6, 7, 8, 9]\n 320\n"
    assert run_with_manager(EXPORT, package) == (0, told, "")


NO_ROOM = """
info = numba_cuda.current_context().get_memory_info()
try:
    numba_cuda.device_array(info.total * 2, np.uint8)
except Exception as error:
    print(type(error).__name__, int(error.code))
kept = numba_cuda.to_device(np.arange(10))
with numba_cuda.defer_cleanup():
    numba_cuda.to_device(np.arange(10))
    print(ctx.bytes_allocated)
print(ctx.bytes_allocated)
numba_cuda.current_context().reset()
print(ctx.bytes_allocated)
kept = numba_cuda.to_device(np.arange(10))
"""


@pytest.mark.alone
@pytest.mark.parametrize("package", PACKAGES)
def test_numba_hears_of_no_room_and_releases(run_with_manager, package):
    assert run_with_manager(NO_ROOM, package) == (0, "CudaAPIError 2\n160\n80\n0\n", "")
