"""Pinned memory: buffers, arrays that are pinned or mapped for a time, and their pool."""

import mmap

import numpy as np
from pyarrow import cuda

from pyarrow_cuda_compat import memory

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


#: What a failed call leaves registered cannot be registered again, whoever has the addresses then.
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


@scenario()
def arrays():
    pinned = memory.pinned_array((3, 4), np.int16)
    pinned[:] = 5
    mapped = memory.mapped_array_like(pinned)
    memory.to_device(pinned).copy_to_host(mapped)
    assert (mapped == 5).all()
