"""Files."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import numpy as np

from ..measure import Case
from ..peers import Peer
from ..space import Host, Space, expect, expect_equal
from .base import expect_device, uploaded


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


def file_new(peer: Peer, space: Space, size: int, *, direct: bool) -> Case:
    source = space.source(size)
    file = file_of(source)
    if direct:
        # Dirty pages would have to be written before they can be read past the cache.
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    run = peer.file_new(file.name, direct)

    def check() -> None:
        expect(file.closed, False, "whether the file is closed")
        expect_device(peer, space, run(), source)

    return Case.waited(run, peer.waiter(), check)


def file_down(peer: Peer, space: Space, size: int) -> Case:
    device, source = uploaded(peer, space, size)
    file = NamedTemporaryFile()  # noqa: SIM115  (closed by its destructor)
    run = peer.file_down(device, file.name)

    def check() -> None:
        run()
        expect(Path(file.name).stat().st_size, size, "the size of the file")
        expect_equal(np.memmap(file.name, np.uint8, "r"), source)

    return Case.waited(run, peer.waiter(), check)
