"""What this process and the one that decodes Parquet files tell each other."""

from __future__ import annotations

from typing import Any, NamedTuple


class Request(NamedTuple):
    #: Paths, or bytes of files.
    sources: list[Any]
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
