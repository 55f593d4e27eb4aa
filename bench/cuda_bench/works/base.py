"""What a work is made of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..measure import Case, Trial
from ..peers import Peer
from ..space import Host, Space, expect_equal

Work = Callable[..., Case | Trial]


def uploaded(peer: Peer, space: Space, size: int) -> tuple[Any, Host]:
    device = peer.allocator(size)()
    source = space.source(size)
    peer.upload(device, source)()
    peer.waiter()()
    return device, source


def expect_device(peer: Peer, space: Space, device: Any, wanted: Host) -> None:
    """Its content, by way of the ordinary memory that no source lies in."""
    target = space.target(wanted.size)
    peer.download(device, target)()
    peer.waiter()()
    expect_equal(target.array, wanted)
