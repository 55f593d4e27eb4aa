"""Calls on buffers and arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..measure import Case
from ..peers import NotOffered
from ..space import LEAST, expect
from .base import Setup, work


@work
def call(setup: Setup, size: int, *, statement: str) -> Case:
    device, source = setup.uploaded(LEAST)
    names = setup.peer.call_names(device)

    def check() -> None:
        if statement.endswith("[5]"):
            expect(eval(statement, dict(names)), int(source.array[5]), statement)

    return Case(statement, names, check, is_repeatable=True)


def matrix(setup: Setup, size: int) -> np.ndarray[Any, Any]:
    """Doubles, in as many rows as columns."""
    side = max(1, int((size // 8) ** 0.5))
    return setup.space.fresh(8 * side * side).array.view(np.int64).reshape(side, side) * 0.5


@work
def array_call(setup: Setup, size: int, *, statement: str) -> Case:
    names = {"array": setup.peer.array(matrix(setup, LEAST))}
    try:
        eval(statement, dict(names))
    except AttributeError as error:
        raise NotOffered(str(error)) from None
    return Case(statement, names, is_repeatable=True)


@work
def array_to_numpy(setup: Setup, size: int) -> Case:
    host = matrix(setup, size)
    run = setup.peer.to_numpy(setup.peer.array(host))
    return setup.giving(run, host, "the array that came back")


@work
def array_from_numpy(setup: Setup, size: int) -> Case:
    host, peer = matrix(setup, size), setup.peer

    def check() -> None:
        expect(np.array_equal(peer.to_numpy(run())(), host), True, "the array that was sent")

    def run() -> Any:
        return peer.array(host)

    return setup.waited(run, check)


@work
def array_transpose(setup: Setup, size: int) -> Case:
    host, peer = matrix(setup, size), setup.peer
    run = peer.dense_copy(peer.array(host).T)

    def check() -> None:
        expect(np.array_equal(peer.to_numpy(run())(), host.T), True, "the transposed matrix")

    return setup.waited(run, check)
