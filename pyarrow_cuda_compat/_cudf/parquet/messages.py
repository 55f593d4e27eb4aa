"""What this process and the one that decodes Parquet files tell each other."""

from __future__ import annotations

from typing import NamedTuple


class Source(NamedTuple):
    """A file, and what is read of it."""

    #: Its path, or its bytes.
    file: str | bytes
    #: In bytes.
    size: int
    #: From a byte to another one; they ascend.
    ranges: list[tuple[int, int]]


class Request(NamedTuple):
    sources: list[Source]
    #: For each source, the numbers of those that are read.
    row_groups: list[list[int]]
    names: list[str]


class Packed(NamedTuple):
    """A table in one allocation on the device."""

    #: Its columns, for pylibcudf's `unpack_from_memoryviews`.
    metadata: bytes
    #: A handle of CUDA IPC; empty for a table without memory.
    handle: bytes
    size: int


class Refused(NamedTuple):
    """libcudf or the device have raised an error."""

    text: str
    is_of_memory: bool
