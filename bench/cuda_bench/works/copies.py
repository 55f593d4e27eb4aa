"""Copies, one at a time."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial
from typing import Any

from ..machine import available_memory
from ..measure import Budget, Case, Trial
from ..peers import Peer
from ..space import Space, expect_equal
from ..stats import Summary
from .base import expect_device, uploaded


def up(peer: Peer, space: Space, size: int, *, pinned: bool) -> Case:
    device = peer.allocator(size)()
    source = space.source(size, pinned=pinned)

    def check() -> None:
        expect_device(peer, space, device, source)

    return Case.waited(peer.upload(device, source), peer.waiter(), check)


def down(peer: Peer, space: Space, size: int, *, pinned: bool) -> Case:
    device, source = uploaded(peer, space, size)
    target = space.target(size, pinned=pinned)

    def check() -> None:
        expect_equal(target.array, source)

    return Case.waited(peer.download(device, target), peer.waiter(), check)


def fresh(peer: Peer, space: Space, size: int) -> Case:
    device, source = uploaded(peer, space, size)
    download = peer.fresh(device)
    return Case.waited(download, peer.waiter(), lambda: expect_equal(download(), source))


def kept(peer: Peer, space: Space, size: int) -> Trial:
    """New results that are all kept: each of them is in memory that nobody has touched."""
    device, source = uploaded(peer, space, size)
    download, wait = peer.fresh(device), peer.waiter()
    results: list[Any] = []

    def take() -> float:
        start = time.perf_counter()
        result = download()
        wait()
        took = time.perf_counter() - start
        results.append(result)
        return took

    def run(budget: Budget) -> Summary:
        room = available_memory() // 2 // size
        # The first one may be in memory of a result that was dropped before.
        take()
        return Summary.of(take() for _ in range(max(1, min(budget.least, room - 1))))

    def check() -> None:
        for result in results:
            expect_equal(result, source)

    return Trial(run, check)


def up_after_pause(peer: Peer, space: Space, size: int, *, milliseconds: int) -> Case:
    """While all that helps with copies has gone to sleep."""
    case = up(peer, space, size, pinned=False)
    return replace(case, before=partial(time.sleep, milliseconds / 1000))


def device_copy(peer: Peer, space: Space, size: int) -> Case:
    first, source = uploaded(peer, space, size)
    second = peer.allocator(size)()

    def check() -> None:
        expect_device(peer, space, second, source)

    return Case.waited(peer.device_copy(first, second), peer.waiter(), check)


def stream_copy(peer: Peer, space: Space, size: int) -> Case:
    device = peer.allocator(size)()
    source = space.source(size, pinned=True)
    peer.waiter()()
    run = peer.stream_copy(device, source)
    return Case.plain(run, lambda: expect_device(peer, space, device, source))


def both_ways(peer: Peer, space: Space, size: int) -> Case:
    part = size // 2
    there, back = peer.allocator(part)(), peer.allocator(part)()
    source = space.source(part, pinned=True)
    target = space.target(part, pinned=True, start=part)
    sent = space.fresh(part)
    peer.upload(back, sent)()
    peer.waiter()()
    run = peer.both_ways(there, source, back, target)

    def check() -> None:
        expect_device(peer, space, there, source)
        expect_equal(target.array, sent)

    return Case.plain(run, check)


def to_second_device(peer: Peer, space: Space, size: int) -> Case:
    device, source = uploaded(peer, space, size)
    there, run = peer.to_second_device(device)
    return Case.plain(run, lambda: expect_device(peer, space, there, source))
