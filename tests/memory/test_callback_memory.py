"""Memory that RMM knows by its address."""

import pytest

from pyarrow_cuda_compat import OutOfMemoryError, _native


def test_it_allocates_in_a_context_until_told(ctx):
    memory, before = _native._CallbackMemory(ctx), ctx.bytes_allocated
    address = memory.allocate(1000, None)
    assert ctx.bytes_allocated - before == 1000
    view = ctx.foreign_buffer(address, 1000)
    view.copy_from_host(b"there")
    assert view.slice(0, 5).to_pybytes() == b"there"
    del view
    memory.deallocate(address, 1000, None)
    assert ctx.bytes_allocated == before
    memory.deallocate(address, 1000, None)
    assert ctx.bytes_allocated == before


def test_no_bytes_have_no_address(ctx):
    memory = _native._CallbackMemory(ctx)
    assert memory.allocate(0, None) == 0
    memory.deallocate(0, 0, None)


def test_it_goes_with_all_that_it_has(ctx, allocated):
    _native._CallbackMemory(ctx).allocate(1000, None)
    assert allocated() == 0


def test_errors(ctx):
    with pytest.raises(OutOfMemoryError, match="1125899906842624 bytes were requested"):
        _native._CallbackMemory(ctx).allocate(1 << 50, None)
    with pytest.raises(TypeError, match="expected Context instance, got int"):
        _native._CallbackMemory(0)
