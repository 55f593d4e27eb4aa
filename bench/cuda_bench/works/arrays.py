"""Calls on buffers and arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..measure import Case
from ..peers import NotOffered, Peer
from ..space import LEAST, Space, expect
from .base import uploaded


def call(peer: Peer, space: Space, size: int, *, statement: str) -> Case:
    device, source = uploaded(peer, space, LEAST)
    names = peer.call_names(device)

    def check() -> None:
        if statement.endswith("[5]"):
            expect(eval(statement, dict(names)), int(source.array[5]), statement)

    return Case(statement, names, check, is_repeatable=True)


def matrix(space: Space, size: int) -> np.ndarray[Any, Any]:
    """Doubles, in as many rows as columns."""
    side = max(1, int((size // 8) ** 0.5))
    return space.fresh(8 * side * side).array.view(np.int64).reshape(side, side) * 0.5


def array_call(peer: Peer, space: Space, size: int, *, statement: str) -> Case:
    host = matrix(space, LEAST)
    names = {"array": peer.array(host)}
    try:
        eval(statement, dict(names))
    except AttributeError as error:
        raise NotOffered(str(error)) from None
    return Case(statement, names, lambda: None, is_repeatable=True)


def array_to_numpy(peer: Peer, space: Space, size: int) -> Case:
    host = matrix(space, size)
    run = peer.to_numpy(peer.array(host))

    def check() -> None:
        expect(np.array_equal(run(), host), True, "the array that came back")

    return Case.waited(run, peer.waiter(), check)


def array_from_numpy(peer: Peer, space: Space, size: int) -> Case:
    host = matrix(space, size)

    def run() -> Any:
        return peer.array(host)

    def check() -> None:
        expect(np.array_equal(peer.to_numpy(run())(), host), True, "the array that was sent")

    return Case.waited(run, peer.waiter(), check)


def array_transpose(peer: Peer, space: Space, size: int) -> Case:
    host = matrix(space, size)
    run = peer.dense_copy(peer.array(host).T)

    def check() -> None:
        expect(np.array_equal(peer.to_numpy(run())(), host.T), True, "the transposed matrix")

    return Case.waited(run, peer.waiter(), check)
