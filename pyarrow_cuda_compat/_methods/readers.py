"""Readers of batches on a device, for files that are larger than its memory."""

from __future__ import annotations

import operator
import os
from collections.abc import Iterable
from typing import Any

import pyarrow as pa

from .. import _native
from .._progress import Progress
from . import datasets, refused_files
from .files import opened, pieces_of
from .tables import data_of, expanded, has_size, named, names_of

#: pyarrow's scanners take no larger number of rows.
_MOST_ROWS = (1 << 31) - 1


def reader_from_file(
    self: _native.Context,
    source: Any,
    *,
    columns: Iterable[str] | None = None,
    filters: Any = None,
    schema: pa.Schema | None = None,
    filesystem: Any = None,
    partitioning: Any = "hive",
    batch_size: int = 1 << 20,
    progress: Progress = None,
) -> pa.RecordBatchReader:
    """Read Arrow or Parquet files in batches on the device.

    The batches together are what `table_from_file` returns for the same arguments.  The reader
    holds up to four of them on the device, or 128 MiB of smaller ones, so the files may be larger
    than the device's memory.  libcudf decodes whole row groups of Parquet files, with about
    `batch_size` rows or more at a time.  A thread reads ahead while batches are used.

    Parameters
    ----------
    source, columns, filters, schema, filesystem, partitioning : as there
        As in `table_from_file`.
    batch_size : int, default 1,048,576
        The most rows of a batch.  Fewer rows take less memory.
    progress : callable or bool, optional
        As in `RecordBatchReader.copy_to`: the bytes that are on the device so far, and None.

    Returns
    -------
    reader : pyarrow.RecordBatchReader
        Errors of `table_from_file` may come while batches are read.

    Raises
    ------
    TypeError
        If `batch_size` is not an integer.
    ValueError
        If `batch_size` is less than 1, or the file is an Arrow stream of which only some rows
        are wanted.

    Examples
    --------
    >>> import tempfile, pyarrow.parquet
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pyarrow.parquet.write_table(pa.table({"x": [1, 2, 3]}), f"{folder}/x.parquet")
    ...     with ctx.reader_from_file(f"{folder}/x.parquet", batch_size=2) as reader:
    ...         [batch.num_rows for batch in reader]
    [2, 1]
    """
    batch_size = _rows(batch_size)
    names = names_of(columns)
    options = {"schema": schema, "filesystem": filesystem, "partitioning": partitioning}
    kind: str | None = "parquet"
    source = expanded(source)
    if filesystem is None and isinstance(source, str) and os.path.exists(source):  # noqa: PTH110
        # The current folder may be another when it is read.
        source = os.path.join(os.getcwd(), source)  # noqa: PTH109, PTH118
    if filesystem is None and not datasets.is_more_than_a_file(source):
        file, name = _file_of(source)
        beginning = file.read(refused_files.BEGINNING)
        kind = datasets.format_of(beginning)
        file.seek(0)
        if kind is None and filters is None and schema is None:
            with named(name), refused_files.explained(beginning):
                return _of_stream(self, file, names, progress)
        if not isinstance(source, str):
            source = file
    scan = datasets.Scan(source, names, filters, kind, options)
    return datasets.read_batches(self, scan, batch_size, progress)


def _rows(batch_size: Any) -> int:
    try:
        number = operator.index(batch_size)
    except TypeError:
        raise TypeError(
            f"batch_size argument must be a number of rows, such as 1024, not {batch_size!r}"
        ) from None
    if number < 1:
        raise ValueError(f"batch_size argument must be at least 1: {number}")
    return min(number, _MOST_ROWS)


def _of_stream(
    context: _native.Context, file: pa.NativeFile, names: list[str] | None, progress: Progress
) -> pa.RecordBatchReader:
    """A reader of an Arrow stream, whose batches stay as they are."""
    stream = pa.ipc.open_stream(file)
    if names is not None:
        schema = pa.schema([stream.schema.field(name) for name in names], stream.schema.metadata)
        stream = pa.RecordBatchReader.from_batches(schema, (it.select(names) for it in stream))
    return stream.copy_to(context, progress=progress)


def _file_of(source: Any) -> tuple[Any, Any]:
    """An open file of its own, or the bytes of one, and its name."""
    data, name = data_of(source), None
    if data is None:
        with opened(source, os.O_RDONLY, "source") as (file, name):
            if has_size(file, name):
                return pa.OSFile(f"/proc/self/fd/{file}"), name
            data = pa.py_buffer(b"".join(pieces_of(file, name, 0, None)))
    return pa.BufferReader(data), name
