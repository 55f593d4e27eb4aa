"""What the package's memory consists of, block by block."""

from __future__ import annotations

from typing import NamedTuple

from .. import _native


class Block(NamedTuple):
    """A part of a segment."""

    address: int
    nbytes: int
    #: The bytes that were asked for, if it is in use.
    requested: int
    state: str
    #: Where the program has allocated it, as the extension notes it.
    origin: str | None

    @property
    def is_in_use(self) -> bool:
        return self.state in ("in use", "shared")


class Segment(NamedTuple):
    """Memory that the driver has allocated, or pinned."""

    device: int
    #: The handle of its context.
    context: int
    is_on_host: bool
    size_class: str
    address: int
    nbytes: int
    blocks: list[Block]


def memory_segments() -> list[Segment]:
    """Those of all contexts of this process."""
    return [
        Segment(*facts[:6], [Block(*block) for block in facts[6]])
        for facts in _native._memory_segments()
    ]
