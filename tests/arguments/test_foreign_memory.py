"""Memory that somebody else allocated, and what may be wrong with it."""

import ctypes

import pytest

#: A refusal that names the trouble: the driver's, or a check's.
REFUSED = (OSError, ValueError)


def test_freed_device_memory_is_refused(ctx, driver, current):
    address = ctypes.c_uint64()
    driver.call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(8 << 20))
    view = ctx.foreign_buffer(address.value, 100)
    part = view.slice(10, 10)
    others = [ctx.new_buffer(100), ctx.new_buffer(10)]
    # From here on nothing may be allocated: it could be given the address.
    driver.call("cuMemFree_v2", address)
    for buffer, other in zip((view, part), others, strict=True):
        with pytest.raises(REFUSED):
            buffer.to_pybytes()
        with pytest.raises(REFUSED):
            buffer.copy_from_host(b"x")
        with pytest.raises(REFUSED):
            other.copy_from_device(buffer)
        with pytest.raises(REFUSED):
            buffer.equals(other)
    with pytest.raises(REFUSED):
        ctx.foreign_buffer(address.value, 100)


@pytest.mark.parametrize("address", [0, 1, 2**63, 2**64 - 1])
def test_addresses_of_no_memory_are_refused(ctx, address):
    for size in (1, 100, 2**62, -(2**63)):
        with pytest.raises(REFUSED):
            ctx.foreign_buffer(address, size)


@pytest.mark.parametrize("beyond", [0, 4096, 10**9, 2**62])
def test_memory_beyond_the_allocation_is_refused(ctx, driver, current, beyond):
    address, size = ctypes.c_uint64(), 4 << 20
    driver.call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(size))
    try:
        assert ctx.foreign_buffer(address.value, size).size == size
        with pytest.raises(ValueError, match=r"ends after|out-of-range|exceed"):
            ctx.foreign_buffer(address.value, size + 1 + beyond)
        with pytest.raises(ValueError, match=r"ends after|out-of-range|exceed"):
            ctx.foreign_buffer(address.value + 5, size - 4 + beyond)
        with pytest.raises(ValueError, match="negative"):
            ctx.foreign_buffer(address.value, -1 - beyond)
    finally:
        driver.call("cuMemFree_v2", address)
