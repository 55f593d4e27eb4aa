"""Comparisons of buffers."""

from __future__ import annotations

import numpy as np

from ..measure import Case
from ..peers import Peer
from ..space import Host, Space, expect
from .base import uploaded

# Buffers that are compared at other alignments lie in larger ones.
MARGIN = 16


def equal(
    peer: Peer, space: Space, size: int, *, first: int = 0, second: int = 0, differs: bool = False
) -> Case:
    source = space.source(size)
    views = []
    for offset in (first, second):
        view = peer.view(peer.allocator(size + MARGIN)(), offset, size)
        peer.upload(view, source)()
        views.append(view)
    compare = peer.equal(*views)

    def change(at: int) -> None:
        host = Host(source.array[at : at + 1] ^ np.uint8(255))
        peer.upload(peer.view(views[1], at, 1), host)()
        peer.waiter()()

    if differs:
        change(0)

    def check() -> None:
        expect(bool(compare()), not differs, "the comparison")
        if not differs:
            at = space.number(size)
            change(at)
            expect(bool(compare()), False, f"the comparison, with a difference at byte {at}")

    peer.waiter()()
    return Case.waited(compare, peer.waiter(), check)


def equal_host(peer: Peer, space: Space, size: int) -> Case:
    device, source = uploaded(peer, space, size)
    compare = peer.equal_host(device, source)

    def check() -> None:
        expect(bool(compare()), True, "the comparison")
        source.array[space.number(size)] ^= 255
        expect(bool(compare()), False, "the comparison, with a difference")

    return Case.waited(compare, peer.waiter(), check)
