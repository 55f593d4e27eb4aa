"""Slices and writes data on a device one chunk, batch or row group at a time.

Each function here takes the guarded function and its arguments.
"""

from collections.abc import Callable
from typing import Any

import pyarrow as pa

from ... import _native
from ..._data import to_host
from ..._methods.intervals import column_of, parts_of
from .actions import has_type

#: Rows of a row group: by default, and at most.
_ROWS, _MOST_ROWS = 1 << 20, 1 << 26
#: The guarded functions check their other arguments on this data.
_NO_CHUNKS = pa.chunked_array([], pa.null())
_NO_TABLE = pa.table({"": _NO_CHUNKS})


def slice_chunks(cut: Any, data: Any, offset: int = 0, length: int | None = None) -> Any:
    """`ChunkedArray.slice` and `Table.slice`, where the nulls of chunks are not counted."""
    is_table = isinstance(data, pa.Table)
    # pyarrow refuses an offset that is not a number; some of its releases take 1.5.
    cut(_NO_TABLE if is_table else _NO_CHUNKS, offset, length)
    offset, length = int(offset), None if length is None else int(length)
    if is_table:
        columns = [_sliced(column, offset, length) for column in data.columns]
        return _native._assemble(data.schema, columns)
    return _sliced(data, offset, length)


def _sliced(data: Any, offset: int, length: int | None) -> Any:
    rest = len(data) if length is None else length
    chunks: list[Any] = []
    parts = parts_of(data)
    for chunk in parts:
        if offset >= len(chunk) and not chunks:
            offset -= len(chunk)
        elif rest > 0:
            taken = chunk.slice(offset, rest)
            _native._count_nulls(taken)
            chunks.append(taken)
            offset, rest = 0, rest - len(taken)
    if not chunks and parts:
        chunks = [parts[0].slice(0, 0)]
    return column_of(chunks, data.type)


def write_batches(
    write: Callable[..., None],
    writer: Any,
    table: Any,
    max_chunksize: int | None = None,
    **options: Any,
) -> None:
    """`write_table` of writers of messages, with one batch at a time in host memory."""
    if not isinstance(table, pa.Table):
        write(writer, table, max_chunksize, **options)  # which pyarrow refuses
        return
    is_number = max_chunksize is None or isinstance(max_chunksize, int)
    if not is_number or has_type(table.schema.types, pa.types.is_dictionary):
        # pyarrow refuses other sizes, and may unify the dictionaries of all batches.
        write(writer, to_host(table), max_chunksize, **options)
        return
    rows = max_chunksize if max_chunksize is not None and max_chunksize > 0 else None
    for batch in table.to_batches(rows):
        writer.write_batch(batch)


def write_row_groups(
    write: Callable[..., None], writer: Any, table: Any, row_group_size: int | None = None
) -> None:
    """`write_table` of Parquet's writer, with one row group at a time in host memory."""
    rows = _ROWS if row_group_size in (None, -1) else row_group_size
    if not isinstance(rows, int) or rows <= 0 or table.num_rows <= rows:
        write(writer, to_host(table), row_group_size)
        return
    rows = min(rows, _MOST_ROWS)
    for start in range(0, table.num_rows, rows):
        write(writer, to_host(table.slice(start, rows)), row_group_size)
