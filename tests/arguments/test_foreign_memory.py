"""Memory that somebody else allocated, and what may be wrong with it."""

import ctypes
from functools import partial

import pytest

from pyarrow_cuda_compat import Stream, from_dlpack
from support.libraries.dlpack import CUDA_HOST, Producer

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


@pytest.fixture(params=[2, 3], ids=["of the host", "of a node"])
def host_pool(driver, current, request):
    """A pool of pinned memory, and the address of 4096 bytes from it."""
    # `CUmemPoolProps`: pinned memory without handles, of the first such place.
    properties = (ctypes.c_int * 22)(1, 0, request.param, 0)
    pool, address, stream = ctypes.c_void_p(), ctypes.c_uint64(), ctypes.c_void_p()
    driver.call("cuMemPoolCreate", ctypes.byref(pool), ctypes.byref(properties))
    size = ctypes.c_size_t(4096)
    driver.call("cuMemAllocFromPoolAsync", ctypes.byref(address), size, pool, stream)
    driver.call("cuStreamSynchronize", stream)
    yield pool, address.value
    driver.call("cuMemFreeAsync", address, stream)
    driver.call("cuStreamSynchronize", stream)


def test_pinned_memory_of_a_pool_is_for_kernels_only(ctx, driver, host_pool):
    pool, address = host_pool
    theirs = partial(Producer, address, device_type=CUDA_HOST)
    for take in (
        lambda: ctx.foreign_buffer(address, 10),
        lambda: ctx.get_device_address(address),
        lambda: from_dlpack(theirs()),
    ):
        with pytest.raises(ValueError, match=r"^device 0 has no access.*cuMemPoolSetAccess opens"):
            take()
    # `CUmemAccessDesc`: reading and writing for device 0.
    access = (ctypes.c_int * 3)(1, 0, 3)
    driver.call("cuMemPoolSetAccess", pool, ctypes.byref(access), ctypes.c_size_t(1))
    assert ctx.get_device_address(address) == from_dlpack(theirs()).buffer.address == address
    foreign, own = ctx.foreign_buffer(address, 10), ctx.new_buffer(10)
    stream = Stream(ctx)
    for copy in (
        lambda: foreign.copy_from_host(bytes(10)),
        lambda: foreign.copy_from_host(ctypes.create_string_buffer(10)),
        lambda: foreign.copy_to_host(),
        lambda: foreign.to_pybytes(),
        lambda: foreign.copy_from_device(own),
        lambda: own.copy_from_device(foreign),
        lambda: own.copy_from_device(foreign, stream=stream),
        lambda: from_dlpack(theirs()).copy_to_host(),
    ):
        with pytest.raises(ValueError, match=r"memory pool of the host.*copy the data to a buffer"):
            copy()
