"""Files."""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import numpy as np

from ..measure import Case
from ..space import Host, expect, expect_equal
from .base import Setup, work


def file_of(host: Host) -> Any:
    """A file with these bytes, which are in the page cache; its last reference removes it."""
    file = NamedTemporaryFile()  # noqa: SIM115  (closed by its destructor)
    file.write(host.array.data)
    file.flush()
    return file


def sending(setup: Setup, file: Any, run: Any, device: Any, source: Host) -> Case:
    """A call that sends a file, which stays there for as long as the check does."""

    def check() -> None:
        expect(file.closed, False, "whether the file is closed")
        setup.expect(run() if device is None else device, source)

    return setup.waited(run, check)


@work
def file_up(setup: Setup, size: int) -> Case:
    device, source = setup.device(size), setup.space.source(size)
    file = file_of(source)
    return sending(setup, file, setup.peer.file_up(device, file.name), device, source)


@work
def file_parts_up(setup: Setup, size: int, *, part: int) -> Case:
    device, source = setup.device(size), setup.space.source(size)
    file = file_of(source)
    return sending(setup, file, setup.peer.file_parts_up(device, file.name, part), device, source)


@work
def file_new(setup: Setup, size: int, *, direct: bool) -> Case:
    source = setup.space.source(size)
    file = file_of(source)
    if direct:
        # Dirty pages would have to be written before they can be read past the cache.
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    return sending(setup, file, setup.peer.file_new(file.name, direct), None, source)


@work
def file_down(setup: Setup, size: int) -> Case:
    device, source = setup.uploaded(size)
    file = NamedTemporaryFile()  # noqa: SIM115  (closed by its destructor)
    run = setup.peer.file_down(device, file.name)

    def check() -> None:
        run()
        expect(Path(file.name).stat().st_size, size, "the size of the file")
        expect_equal(np.memmap(file.name, np.uint8, "r"), source)

    return setup.waited(run, check)
