"""Calls while streams are busy."""

from __future__ import annotations

from collections.abc import Callable

from ..measure import Case
from ..peers import Peer
from ..space import Space
from .base import expect_device

# For how long streams are kept busy, in seconds: longer than anybody needs to use them.
BUSY = 0.5


def queue_beside_busy(peer: Peer, space: Space, size: int, *, streams: int) -> Case:
    device = peer.allocator(size)()
    source = space.source(size, pinned=True)
    peer.waiter()()
    queue, handles = peer.queued_copies(device, source, streams + 1)
    space.driver.hold(handles, BUSY)
    *others, run = queue
    for other in others:
        other()

    def check() -> None:
        space.driver.call("cuCtxSynchronize")
        expect_device(peer, space, device, source)

    return Case("run()", {"run": run}, check, most=200)


def allocate_beside_busy(peer: Peer, space: Space, size: int) -> Case:
    run = peer.allocator(size)
    run()
    return beside_busy(run, space, lambda: None)


def up_beside_busy(peer: Peer, space: Space, size: int) -> Case:
    allocator, wait, source = peer.allocator(size), peer.waiter(), space.source(size)

    def run() -> object:
        device = allocator()
        peer.upload(device, source)()
        wait()
        return device

    return beside_busy(run, space, lambda: expect_device(peer, space, run(), source))


def beside_busy(run: Callable[[], object], space: Space, check: Callable[[], None]) -> Case:
    """While a stream is busy that nobody else uses."""
    space.driver.call("cuCtxSynchronize")
    space.driver.hold([space.driver.make_stream()], BUSY)

    def checked() -> None:
        space.driver.call("cuCtxSynchronize")
        check()

    return Case("run()", {"run": run}, checked, most=200)
