"""Memory that is allocated and released again."""

from __future__ import annotations

import numpy as np

from ..measure import Case
from ..peers import Peer
from ..space import Host, Space
from .base import expect_device


def allocate(peer: Peer, space: Space, size: int) -> Case:
    allocator = peer.allocator(size)

    def check() -> None:
        device, source = allocator(), space.source(size)
        peer.upload(device, source)()
        expect_device(peer, space, device, source)

    return Case.plain(allocator, check)


def allocate_pinned(peer: Peer, space: Space, size: int) -> Case:
    allocator = peer.pinned_allocator(size)

    def check() -> None:
        memory, device, source = allocator(), peer.allocator(size)(), space.source(size)
        # CuPy's and Arrow's have the buffer protocol, PyTorch's is an array.
        array = np.asarray(memory) if hasattr(memory, "__array__") else np.frombuffer(memory, "u1")
        pinned = Host(array[:size], is_pinned=True)
        pinned.array[:] = source.array
        peer.upload(device, pinned)()
        expect_device(peer, space, device, source)

    return Case.plain(allocator, check)
