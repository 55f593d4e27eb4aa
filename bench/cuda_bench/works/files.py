"""Files."""

from __future__ import annotations

from tempfile import NamedTemporaryFile
from typing import Any

from ..measure import Case
from ..peers import Peer
from ..space import Host, Space, expect
from .base import expect_device


def file_of(host: Host) -> Any:
    """A file with these bytes, which are in the page cache; it goes with its last reference."""
    file = NamedTemporaryFile()  # noqa: SIM115  (closed by its destructor)
    file.write(host.array.data)
    file.flush()
    return file


def file_up(peer: Peer, space: Space, size: int) -> Case:
    device, source = peer.allocator(size)(), space.source(size)
    file = file_of(source)
    run = peer.file_up(device, file.name)

    def check() -> None:
        expect(file.closed, False, "whether the file is closed")
        expect_device(peer, space, device, source)

    return Case.waited(run, peer.waiter(), check)


def file_parts_up(peer: Peer, space: Space, size: int, *, part: int) -> Case:
    device, source = peer.allocator(size)(), space.source(size)
    file = file_of(source)
    run = peer.file_parts_up(device, file.name, part)

    def check() -> None:
        expect(file.closed, False, "whether the file is closed")
        expect_device(peer, space, device, source)

    return Case.waited(run, peer.waiter(), check)
