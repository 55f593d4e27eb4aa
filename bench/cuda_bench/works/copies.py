"""Copies and comparisons, one at a time."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ..machine import available_memory
from ..measure import Budget, Case, Summary, Trial
from ..space import Host, expect, expect_equal
from .base import Setup, work

# Buffers that are compared at other alignments lie in larger ones.
MARGIN = 16


@work
def up(setup: Setup, size: int, *, pinned: bool) -> Case:
    device, source = setup.device(size), setup.space.source(size, pinned=pinned)
    return setup.sending(setup.peer.upload(device, source), device, source)


@work
def down(setup: Setup, size: int, *, pinned: bool) -> Case:
    device, source = setup.uploaded(size)
    target = setup.space.target(size, pinned=pinned)
    run = setup.peer.download(device, target)
    return setup.waited(run, lambda: expect_equal(target.array, source))


@work
def fresh(setup: Setup, size: int) -> Case:
    device, source = setup.uploaded(size)
    download = setup.peer.fresh(device)
    return setup.waited(download, lambda: expect_equal(download(), source))


@work
def kept(setup: Setup, size: int) -> Trial:
    """New results that are all kept: each of them is in memory that nobody has touched."""
    device, source = setup.uploaded(size)
    download, wait = setup.peer.fresh(device), setup.peer.waiter()
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


@work
def up_after_pause(setup: Setup, size: int, *, milliseconds: int) -> Case:
    """The threads that help with copies have gone to sleep before each call."""
    case = up(setup, size, pinned=False)
    return replace(case, before=partial(time.sleep, milliseconds / 1000))


@work
def device_copy(setup: Setup, size: int) -> Case:
    first, source = setup.uploaded(size)
    second = setup.device(size)
    return setup.sending(setup.peer.device_copy(first, second), second, source)


@work
def to_second_device(setup: Setup, size: int) -> Case:
    device, source = setup.uploaded(size)
    there, run = setup.peer.to_second_device(device)
    return Case.plain(run, lambda: setup.expect(there, source))


@work
def stream_copy(setup: Setup, size: int) -> Case:
    device, source = setup.device(size), setup.space.source(size, pinned=True)
    setup.peer.waiter()()
    stream = setup.peer.stream()
    run = setup.peer.upload(device, source, stream)
    case = Case.waited(run, stream.synchronize, lambda: setup.expect(device, source))
    return replace(case, is_repeatable=True)


@work
def both_ways(setup: Setup, size: int) -> Case:
    """Two pinned copies on two streams, and the wait for both."""
    peer, space, part = setup.peer, setup.space, size // 2
    there, back = setup.device(part), setup.device(part)
    source, sent = space.source(part, pinned=True), space.fresh(part)
    target = space.target(part, pinned=True, start=part)
    setup.send(back, sent)
    first, second = peer.stream(), peer.stream()

    def check() -> None:
        setup.expect(there, source)
        expect_equal(target.array, sent)

    names = {
        "up": peer.upload(there, source, first),
        "down": peer.download(back, target, second),
        "wait": first.synchronize,
        "wait_too": second.synchronize,
    }
    return Case("up(); down(); wait(); wait_too()", names, check, is_repeatable=True)


@work
def equal(
    setup: Setup, size: int, *, first: int = 0, second: int = 0, differs: bool = False
) -> Case:
    source, peer = setup.space.source(size), setup.peer
    views = [peer.view(setup.device(size + MARGIN), offset, size) for offset in (first, second)]
    for view in views:
        setup.send(view, source)
    compare = peer.equal(*views)

    def change(at: int) -> None:
        setup.send(peer.view(views[1], at, 1), Host(source.array[at : at + 1] ^ np.uint8(255)))

    def check() -> None:
        expect(bool(compare()), not differs, "the comparison")
        if not differs:
            at = setup.space.number(size)
            change(at)
            expect(bool(compare()), False, f"the comparison, with a difference at byte {at}")

    if differs:
        change(0)
    return setup.waited(compare, check)


@work
def equal_host(setup: Setup, size: int) -> Case:
    device, source = setup.uploaded(size)
    compare = setup.peer.equal_host(device, source)

    def check() -> None:
        expect(bool(compare()), True, "the comparison")
        source.array[setup.space.number(size)] ^= 255
        expect(bool(compare()), False, "the comparison, with a difference")

    return setup.waited(compare, check)
