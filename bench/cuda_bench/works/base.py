"""What works are made of, and the table of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from ..measure import Case, Trial
from ..peers import Peer
from ..space import Host, Space, expect, expect_equal

Work = TypeVar("Work", bound=Callable[..., Case | Trial])

# By the names that rows refer to.
WORKS: dict[str, Callable[..., Case | Trial]] = {}


def work(prepare: Work) -> Work:
    """Enters a function into the table: of a Setup, a size in bytes and the row's options."""
    WORKS[prepare.__name__] = prepare
    return prepare


@dataclass(frozen=True)
class Setup:
    """A peer, and the host memory that it copies from and to."""

    peer: Peer
    space: Space

    def device(self, size: int) -> Any:
        return self.peer.allocator(size)()

    def uploaded(self, size: int) -> tuple[Any, Host]:
        """Device memory with the bytes of the source."""
        device, source = self.device(size), self.space.source(size)
        self.send(device, source)
        return device, source

    def send(self, device: Any, host: Host) -> None:
        self.peer.upload(device, host)()
        self.peer.waiter()()

    def expect(self, device: Any, wanted: Host) -> None:
        """Checks the content by way of the ordinary memory that no source lies in."""
        target = self.space.target(wanted.size)
        self.peer.download(device, target)()
        self.peer.waiter()()
        expect_equal(target.array, wanted)

    def waited(self, run: Callable[[], object], check: Callable[[], None]) -> Case:
        return Case.waited(run, self.peer.waiter(), check)

    def sending(self, run: Callable[[], object], device: Any, source: Host) -> Case:
        """A call after which the device has the bytes of the source."""
        return self.waited(run, lambda: self.expect(device, source))

    def giving(self, run: Callable[[], Any], wanted: Any, what: str) -> Case:
        """A call that returns an array of NumPy with the wanted values."""
        return self.waited(run, lambda: expect(np.array_equal(run(), wanted), True, what))
