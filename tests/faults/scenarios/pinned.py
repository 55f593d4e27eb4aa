"""Pinned memory: buffers, arrays that are pinned or mapped for a time, and their pool."""

import mmap

import numpy as np
import pyarrow as pa
from pyarrow import cuda

from pyarrow_cuda_compat import memory, pinned_memory_pool

from . import scenario


@scenario()
def buffers():
    pinned = cuda.new_host_buffer(64)
    view = cuda.Context().buffer_from_object(pinned)
    view.copy_from_host(b"abc")
    assert pinned.to_pybytes()[:3] == b"abc"
    assert pinned.slice(1, 2).to_pybytes() == b"bc"
    assert pinned.equals(pinned.slice(0))
    assert [cuda.new_host_buffer(size).size for size in (0, 5000, 3 << 20)] == [0, 5000, 3 << 20]


#: Memory that a failed call leaves registered cannot be registered again, whoever gets the
#: addresses.
_USED = []


def _pages():
    _USED.append(mmap.mmap(-1, 1 << 14))
    return np.frombuffer(_USED[-1], np.int32)


@scenario(releases={"host_allocations": 1})
def registrations():
    one, other = _pages(), _pages()
    with memory.pinned(one, other):
        array = memory.to_device(one)
        array.copy_to_host(other)
    with memory.mapped(one) as mapped:
        mapped[1] = 7
        memory.synchronize()
    assert (one[1], other.any()) == (7, False)


@scenario(releases={"host_allocations": 1})
def registrations_for_reading():
    _USED.append(mmap.mmap(-1, 1 << 14, prot=mmap.PROT_READ))
    host = np.frombuffer(_USED[-1], np.int32)
    with memory.pinned(host):
        array = memory.to_device(host)
    with memory.mapped(host) as mapped:
        assert not mapped.is_mutable
    assert not array.copy_to_host().any()


@scenario()
def arrays():
    pinned = memory.pinned_array((3, 4), np.int16)
    pinned[:] = 5
    mapped = memory.mapped_array_like(pinned)
    memory.to_device(pinned).copy_to_host(mapped)
    assert (mapped == 5).all()


@scenario(
    others=r"alloc of size \d+ failed: Cuda error {code} in function",
    releases={"host_allocations": 1},
)
def pools():
    ctx = cuda.Context()
    pool = pinned_memory_pool(ctx)
    sizes = (100, 5000, 100, 5 << 20, 4 << 20)
    held = [pa.allocate_buffer(size, memory_pool=pool, resizable=True) for size in sizes]
    for number, buffer in enumerate(held):
        np.frombuffer(buffer, np.uint8)[:] = number
    held[1].resize(6 << 20)
    there = [ctx.buffer_from_data(buffer) for buffer in held]
    assert there[1].slice(0, 5000).to_pybytes() == b"\1" * 5000
    assert all(one.equals(other) for one, other in zip(there, held, strict=True))
    del held, buffer
    again = pa.allocate_buffer(4 << 20, memory_pool=pool)
    assert again.size == 4 << 20
    del again
    pool.release_unused()
