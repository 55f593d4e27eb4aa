"""What libcudf is given of Parquet files: device memory with the bytes that it reads.

Several threads copy them sooner than libcudf reads files.  The memory is as large as the files, so
libcudf reads files itself that are large beside what the device has free.
"""

from __future__ import annotations

from typing import Any

from ... import _native, mem_get_info
from ..spans import Span, span_of
from .messages import Source

#: Of the memory that the device has free, for copies of files.
_SHARE = 1 / 4


def given(context: Any, sources: list[Source]) -> list[Any]:
    """Sources of one kind, for pylibcudf's `SourceInfo`."""
    free, _ = mem_get_info(context)
    if sum(source.size for source in sources) > _SHARE * free:
        return [source.file for source in sources]
    return [_copied(context, source) for source in sources]


def _copied(context: Any, source: Source) -> Span | None:
    if isinstance(source.file, bytes):
        return span_of(context.buffer_from_data(source.file))
    buffer = context.new_buffer(source.size)
    with open(source.file, "rb") as file:  # noqa: PTH123 - not a path but its text
        _native._copy_ranges_from_file(buffer, file.fileno(), source.file, source.ranges)
    return span_of(buffer)
