"""Numba's arrays in our memory: the external memory manager.

Most is tried with stand-ins for what Numba's packages have in common; Numba itself runs on
hardware, in a process of its own, because a memory manager is chosen once and for all.
"""

import ctypes
import gc
import threading
from types import SimpleNamespace

import numpy as np
import pytest

from pyarrow_cuda_compat.numba import memory_manager
from support.libraries import numba_stand_ins as stand_ins


@pytest.fixture(params=[ctypes.c_void_p, stand_ins.CUcontext], ids=["c_void_p", "CUcontext"])
def kind(request):
    return request.param


@pytest.fixture(params=stand_ins.MODULES, ids=["numba-cuda", "numba-cuda-mlir"])
def module(request, driver, monkeypatch):
    return stand_ins.install(request.param, driver, monkeypatch)


@pytest.fixture
def contexts_of_numba(module, kind, contexts):
    """A Numba context for each device."""
    made = []
    for number, ctx in enumerate(contexts):
        context = module.Context(SimpleNamespace(id=number), kind(ctx.handle))
        context.memory_manager = memory_manager(context=context)
        context.memory_manager.initialize()
        made.append(context)
    yield made
    for context in made:
        context.memory_manager.reset()


@pytest.fixture
def manager(contexts_of_numba):
    return contexts_of_numba[0].memory_manager


def test_the_version_is_told_without_a_context():
    from pyarrow_cuda_compat import numba

    assert numba._numba_memory_manager is memory_manager
    assert memory_manager(context=None).interface_version == 1


def test_both_packages_at_once(driver, ctx, monkeypatch):
    managers = []
    for name in stand_ins.MODULES:
        module = stand_ins.install(name, driver, monkeypatch)
        context = module.Context(SimpleNamespace(id=0), stand_ins.CUcontext(ctx.handle))
        managers.append(memory_manager(context=context))
        assert isinstance(managers[-1], module.HostOnlyCUDAMemoryManager)
        assert managers[-1].interface_version == 1
    before = ctx.bytes_allocated
    pointers = [manager.memalloc(100) for manager in managers]
    assert ctx.bytes_allocated == before + 200
    managers[0].reset()
    assert ctx.bytes_allocated == before + 100
    del pointers
    assert ctx.bytes_allocated == before


@pytest.mark.parametrize(
    "wrong", [0, "context", pytest.param(object(), id="object"), SimpleNamespace()], ids=repr
)
def test_what_is_no_context_is_refused(wrong):
    with pytest.raises(TypeError, match=f"Numba CUDA context, got {type(wrong).__name__}$"):
        memory_manager(context=wrong)


def test_memory_is_counted_as_long_as_it_is_there(manager, ctx):
    before = ctx.bytes_allocated
    pointer = manager.memalloc(np.int64(1000))
    assert (pointer.size, ctx.bytes_allocated) == (1000, before + 1000)
    view = pointer.view(10, 20)
    assert (view.size, view.device_pointer_value) == (10, pointer.device_pointer_value + 10)
    part = view.view(2, 4)
    del pointer, view
    gc.collect()
    assert ctx.bytes_allocated == before + 1000
    del part
    assert ctx.bytes_allocated == before
    assert not manager.allocations


def test_each_device_has_its_own(contexts_of_numba, contexts, other_ctx):
    before = [ctx.bytes_allocated for ctx in contexts[:2]]
    pointer = contexts_of_numba[1].memory_manager.memalloc(100)
    assert [ctx.bytes_allocated for ctx in contexts[:2]] == [before[0], before[1] + 100]
    assert pointer.context.device.id == 1


def test_a_context_may_name_its_device_by_the_drivers_number(module, kind, ctx):
    class CUdevice:
        def __int__(self):
            return 0

    manager = memory_manager(context=module.Context(CUdevice(), kind(ctx.handle)))
    before = ctx.bytes_allocated
    pointer = manager.memalloc(10)
    assert ctx.bytes_allocated == before + 10
    del pointer


def test_a_context_that_is_not_primary(cuda, module, kind, own_context):
    context = module.Context(SimpleNamespace(id=0), kind(own_context))
    manager = memory_manager(context=context)
    ours = cuda.Context(0, own_context)
    pointer = manager.memalloc(10)
    assert ours.bytes_allocated == 10
    del pointer
    assert ours.bytes_allocated == 0


def test_a_context_of_another_driver_is_refused(module, kind, monkeypatch):
    manager = memory_manager(context=module.Context(SimpleNamespace(id=0), kind(0x1230)))
    with pytest.raises(RuntimeError, match="PYARROW_CUDA_DRIVER"):
        manager.memalloc(10)
    manager = memory_manager(context=module.Context(SimpleNamespace(id=99), kind(0x1230)))
    with pytest.raises(RuntimeError, match="another CUDA driver"):
        manager.initialize()


def test_no_bytes(cuda, manager, ctx):
    before = ctx.bytes_allocated
    pointers = [manager.memalloc(0) for _ in range(2)]
    assert [(mem.size, mem.device_pointer_value) for mem in pointers] == [(0, None)] * 2
    assert cuda.CudaBuffer.from_numba(pointers[0]).size == 0
    with pytest.raises(ValueError, match="empty memory"):
        manager.get_ipc_handle(pointers[0])
    assert ctx.bytes_allocated == before


@pytest.mark.parametrize("size", [-1, 1.5, "10", None], ids=repr)
def test_what_is_no_size_is_refused(manager, size):
    with pytest.raises((ValueError, TypeError)):
        manager.memalloc(size)


def test_no_room_is_numbas_own_error(module, manager, ctx):
    before = ctx.bytes_allocated
    with pytest.raises(module.CudaAPIError) as caught:
        manager.memalloc(1 << 50)
    assert caught.value.code is stand_ins.CUresult.CUDA_ERROR_OUT_OF_MEMORY
    assert "cuMemAlloc" in caught.value.msg
    assert ctx.bytes_allocated == before


@pytest.mark.alone
def test_what_waits_for_its_release_makes_room(manager):
    most = manager.get_memory_info().free // 8 * 5
    manager.deallocations.held_up += 1
    manager.memalloc(most)
    manager.deallocations.held_up -= 1
    assert len(manager.deallocations.items) == 1
    assert manager.memalloc(most).size == most
    assert not manager.deallocations.items


@pytest.mark.simulator
def test_other_failures_of_the_driver(run_python):
    code = """
import sys
from support.libraries import numba_stand_ins as stand_ins
from pyarrow_cuda_compat.numba import memory_manager
from types import SimpleNamespace
from pyarrow import cuda
for name in stand_ins.MODULES:
    module = sys.modules[name] = stand_ins.module(name, None)
    context = module.Context(SimpleNamespace(id=0), cuda.Context(0).handle)
    manager = memory_manager(context=context)
    try: manager.memalloc(10)
    except stand_ins.CudaAPIError as error: print(repr(error.code), error.msg)
"""
    for fault, text in ((1, "<CUresult.CUDA_ERROR_INVALID_VALUE: 1>"), (12345, "12345")):
        code_, out, err = run_python(code, CUDA_SIM_FAULT=f"cuMemAlloc_v2:1+={fault}")
        assert (code_, err) == (0, "")
        assert out.startswith(f"{text} Cuda error {fault} in function 'cuMemAlloc'")


def test_releases_may_be_put_off(manager, ctx):
    before = ctx.bytes_allocated
    with manager.defer_cleanup():
        with manager.defer_cleanup():
            manager.memalloc(100)
            assert ctx.bytes_allocated == before + 100
        assert ctx.bytes_allocated == before + 100
        manager.deallocations.clear()
        assert ctx.bytes_allocated == before + 100
    assert ctx.bytes_allocated == before
    block = manager.defer_cleanup()
    block.__enter__()
    manager.memalloc(100)
    assert not block.__exit__(KeyError, KeyError(), None)
    assert ctx.bytes_allocated == before


def test_buffers_over_the_memory_own_it(cuda, manager, ctx):
    before = ctx.bytes_allocated
    pointer = manager.memalloc(100)
    whole = cuda.CudaBuffer.from_numba(pointer)
    part = cuda.CudaBuffer.from_numba(pointer.view(10, 30).view(5, 10))
    assert (whole.address, whole.size) == (pointer.device_pointer_value, 100)
    assert (part.address, part.size) == (whole.address + 15, 5)
    assert whole.is_mutable
    whole.copy_from_host(bytes(range(100)))
    del pointer, whole
    gc.collect()
    assert ctx.bytes_allocated == before + 100
    assert part.to_pybytes() == bytes(range(15, 20))
    del part
    assert ctx.bytes_allocated == before


def test_a_pointer_that_claims_more_than_there_is(cuda, manager):
    pointer = manager.memalloc(100)
    wrong = pointer.view(0, 100)._view
    wrong.size = 101
    with pytest.raises(ValueError, match=r"100|101"):
        cuda.CudaBuffer.from_numba(wrong)


def test_a_reset_takes_the_memory_from_arrays_only(cuda, manager, ctx):
    before = ctx.bytes_allocated
    lost, shared = manager.memalloc(100), manager.memalloc(10)
    buf = cuda.CudaBuffer.from_numba(shared)
    buf.copy_from_host(b"0123456789")
    manager.reset()
    assert ctx.bytes_allocated == before + 10
    assert buf.to_pybytes() == b"0123456789"
    for pointer in (lost, shared):
        with pytest.raises(ValueError, match="reset"):
            cuda.CudaBuffer.from_numba(pointer)
    del pointer, lost, shared
    assert manager.memalloc(10).size == 10
    del buf
    assert ctx.bytes_allocated == before


def test_memory_given_back_by_hand(manager, ctx):
    before = ctx.bytes_allocated
    pointer = manager.memalloc(100)
    manager.allocations[pointer.device_pointer_value].free()
    assert ctx.bytes_allocated == before


def test_any_thread_releases(manager, ctx):
    before = ctx.bytes_allocated
    held = [manager.memalloc(size) for size in range(1, 400)]

    def work():
        while held:
            try:
                pointer = held.pop()
            except IndexError:
                return
            manager.memalloc(pointer.size).view(0, 1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert ctx.bytes_allocated == before
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
    assert handle.source_info == {"number": 0}
    assert opened_by(peer, handle) == bytes(range(20, 50))
    whole = manager.get_ipc_handle(pointer)
    assert (whole.size, whole.offset) == (100, 0)
    assert whole.handle.reserved == handle.handle.reserved


@pytest.mark.leaks
def test_exported_memory_stays(cuda, manager, ctx, current, peer):
    before = ctx.bytes_allocated
    pointer = manager.memalloc(100)
    cuda.CudaBuffer.from_numba(pointer).copy_from_host(bytes(range(100)))
    handle = manager.get_ipc_handle(pointer)
    handle.base = None
    del pointer
    gc.collect()
    others = [ctx.buffer_from_data(b"!" * 100) for _ in range(10)]
    assert opened_by(peer, handle) == bytes(range(100))
    del others
    assert ctx.bytes_allocated == before + 100


@pytest.mark.leaks
def test_buffers_over_the_memory_are_exported_for_good(cuda, manager, ctx):
    before = ctx.bytes_allocated
    pointer = manager.memalloc(100)
    cuda.CudaBuffer.from_numba(pointer).export_for_ipc()
    del pointer
    gc.collect()
    assert ctx.bytes_allocated == before + 100


@pytest.mark.leaks
def test_memory_that_came_back_as_foreign_is_known(module, manager, ctx, current, peer):
    pointer = manager.memalloc(100)
    address = stand_ins.CUdeviceptr(pointer.device_pointer_value + 40)
    foreign = module.MemoryPointer(pointer.context, address, 10, owner=object())
    assert manager.get_ipc_handle(foreign).offset == 40
    # A buffer of ours as `to_numba` shows it.
    buf = ctx.buffer_from_data(b"0123456789")
    shown = module.MemoryPointer(
        pointer.context, stand_ins.CUdeviceptr(buf.address + 2), 5, owner=buf
    )
    assert opened_by(peer, manager.get_ipc_handle(shown)) == b"23456"


def test_memory_of_others_is_exported_as_numba_does(module, manager, ctx, current):
    buf = ctx.new_buffer(10)
    theirs = module.MemoryPointer(None, stand_ins.CUdeviceptr(buf.address), 10)
    assert manager.get_ipc_handle(theirs) == ("Numba's own", theirs)


@pytest.mark.leaks
def test_memory_of_another_device_names_that_one(contexts_of_numba, other_ctx, current):
    pointer = contexts_of_numba[1].memory_manager.memalloc(10)
    handle = contexts_of_numba[0].memory_manager.get_ipc_handle(pointer)
    assert handle.source_info == {"number": 1}


AT_EXIT = """
import sys, threading
from support.libraries import numba_stand_ins as stand_ins
from pyarrow_cuda_compat.numba import memory_manager
from types import SimpleNamespace
from pyarrow import cuda
name = stand_ins.MODULES[0]
module = sys.modules[name] = stand_ins.module(name, None)
context = module.Context(SimpleNamespace(id=0), cuda.Context(0).handle)
context.memory_manager = memory_manager(context=context)
pointers = [context.memory_manager.memalloc(100) for _ in range(10)]
context.cycle = pointers[:5], pointers[0].view(0, 10)
buf = cuda.CudaBuffer.from_numba(pointers[-1])
thread = threading.Thread(target=lambda kept: threading.Event().wait(), args=(pointers[5:7],))
thread.daemon = True
thread.start()
context.memory_manager.deallocations.held_up += 1
del pointers[7]
print("done")
"""


def test_interpreters_end_well(run_python):
    assert run_python(AT_EXIT) == (0, "done\n", "")
