"""What all works have in common."""

from dataclasses import dataclass
from functools import partial
from typing import Any

from ..measure import FULL, Budget, Call, Case
from ..peers import NotOffered, Peer
from ..space import Host, Space, expect_equal


@dataclass(frozen=True)
class Setup:
    """A peer, and the host memory that it copies from and to."""

    peer: Peer
    space: Space
    budget: Budget = FULL

    def require_devices(self, count: int) -> None:
        if self.space.driver.answer("cuDeviceGetCount") < count:
            raise NotOffered("one device")

    def uploaded(self, size: int) -> tuple[Any, Host]:
        """Device memory with the bytes of the source."""
        device, source = self.peer.allocate(size), self.space.source(size)
        self.send(device, source)
        return device, source

    def send(self, device: Any, host: Host) -> None:
        self.peer.upload(device, host)()
        self.peer.wait()

    def expect(self, device: Any, wanted: Host) -> None:
        """Checks the content by way of the ordinary memory that no source lies in."""
        target = self.space.target(wanted.size)
        self.peer.download(device, target)()
        self.peer.wait()
        expect_equal(target, wanted)

    def waited(self, run: Call, check: Call, **kept: object) -> Case:
        """A call, and the wait for it; further objects live as long as the case."""
        return Case("run(); wait()", {"run": run, "wait": self.peer.wait, **kept}, check)

    def sending(self, run: Call, device: Any, source: Host, **kept: object) -> Case:
        """A call after which the device has the bytes of the source."""
        return self.waited(run, partial(self.expect, device, source), **kept)
