"""Pointers and the allocators of each type."""

import ctypes

import numpy as np
import pytest

import pyarrow_cuda_compat.pygpu as gpuarray

DTYPES = gpuarray.SUPPORTED_DTYPES


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_pointer(dtype, capsys):
    pointer = getattr(gpuarray, f"pointer_wrapper_{dtype}")()
    null = f"<pointer_wrapper<{dtype}>, is_safe=0, addr=0>"
    assert (int(pointer), pointer.is_safe(), repr(pointer)) == (0, False, null)
    pointer.create(3)
    memory = pointer.get()
    assert (memory.dtype, memory.shape) == (np.dtype(dtype), (3,))
    assert int(pointer) == memory.ctypes.data
    assert repr(pointer) == f"<pointer_wrapper<{dtype}>, is_safe=1, addr={memory.ctypes.data}>"
    pointer.print_address()
    assert f"{memory.ctypes.data:#x}" in capsys.readouterr().out
    # A C function takes it as it is, whether or not it says what it takes.
    size = memory.nbytes
    memset = ctypes.CDLL(None).memset
    memset(pointer, 1, ctypes.c_size_t(size))
    assert memory.tobytes() == b"\1" * size
    memset.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t]
    memset(pointer, 2, size)
    assert memory.tobytes() == b"\2" * size
    pointer.destroy()
    assert repr(pointer) == null
    assert memory.tobytes() == b"\2" * size, "the array retains it"


@pytest.mark.parametrize("dtype", DTYPES)
def test_allocators(dtype, ctx, driver, is_simulator):
    before = ctx.bytes_allocated
    nbytes = 5 * np.dtype(dtype).itemsize
    kinds = {"Host": (None, True), "Pagelocked": (0, True), "Device": (0, False)}
    for kind, (status, is_safe) in kinds.items():
        allocator = getattr(gpuarray, f"{kind}Allocator_{dtype}")()
        assert int(allocator.ptr()) == 0
        assert allocator.allocate(5) == status
        first = allocator.ptr()
        assert isinstance(first, getattr(gpuarray, f"pointer_wrapper_{dtype}"))
        assert first.is_safe() == is_safe
        if is_safe:
            first.get()[:] = 7
        assert allocator.allocate(5) == status
        assert int(allocator.ptr()) != int(first), "the pointer retains the first memory"
        if is_safe:
            assert (first.get() == 7).all()
        else:
            assert ctx.bytes_allocated - before == 2 * nbytes
        assert allocator.allocate(0) == status
        for wrong in (-1, "5", 1.5):
            with pytest.raises((ValueError, TypeError)):
                allocator.allocate(wrong)


def test_no_room_for_an_allocator(ctx):
    before = ctx.bytes_allocated
    allocator = gpuarray.DeviceAllocator_int64()
    assert allocator.allocate(3) == 0
    assert allocator.allocate(1 << 40) == gpuarray.cudaGetLastError() == 2
    assert int(allocator.ptr()) == 0
    assert ctx.bytes_allocated == before, "what it had is released first"
