"""Tables on a device of Parquet and other files, one or many, by pyarrow's datasets.

A dataset says which files there are, and what pyarrow reads of them.  libcudf decodes those Parquet
files on the device of which its answer is pyarrow's (`_cudf.parquet`).  pyarrow decodes all others
on the host, while earlier batches are copied.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pyarrow as pa

from .. import _native
from .._cudf import rmm_resource
from .._cudf.library import attempted
from .._cudf.refusals import Refusal

_Report = Callable[[int, int], object] | None

#: How files begin, by pyarrow's name of their format.
_MAGIC = {b"PAR1": "parquet", b"PARE": "parquet", b"ARROW1": "ipc", b"ORC": "orc"}
#: Rows that pyarrow decodes at a time, so that one batch is copied while it decodes the next.
_ROWS_AT_ONCE = 1 << 20


def is_more_than_a_file(source: Any) -> bool:
    """Whether a source is a list, a folder, a URI, or of `pyarrow.dataset`."""
    if isinstance(source, str | os.PathLike):
        is_uri = isinstance(source, str) and "://" in source and not os.path.exists(source)
        return is_uri or os.path.isdir(source)
    module = type(source).__module__
    return isinstance(source, list | tuple) or module.startswith("pyarrow._dataset")


def format_of(beginning: bytes, asks_more: bool) -> str | None:
    """The format of a file that begins so, which a dataset reads; None for Arrow files and streams
    of which all rows are wanted.

    Raises
    ------
    ArrowInvalid
        If some rows are wanted of a file that is none of these.
    """
    found = next((name for magic, name in _MAGIC.items() if beginning.startswith(magic)), None)
    if asks_more and found is None:
        raise pa.ArrowInvalid(
            "filters and schema arguments are for Parquet, ORC and Arrow files; read an Arrow "
            "stream without them, and filter or cast the table"
        )
    return None if found == "ipc" and not asks_more else found


class Scan:
    """Rows and columns of a dataset, in pyarrow's words.

    Parameters
    ----------
    source : str, os.PathLike, file, Buffer, list of paths, Dataset or Fragment
    options : dict
        Of `pyarrow.parquet.ParquetDataset`.
    """

    def __init__(
        self, source: Any, columns: list[str] | None, filters: Any, file_format: str, options: Any
    ) -> None:
        #: A `pyarrow.dataset.Dataset`.
        self.dataset = _dataset_of(source, file_format, options)
        self.columns, self.filter = columns, _expression_of(filters)
        #: Of the result.
        self.schema = self.scanner().projected_schema

    def scanner(self, **options: Any) -> Any:
        return self.dataset.scanner(columns=self.columns, filter=self.filter, **options)

    def rows(self) -> int:
        """How many rows its files have."""
        count: int = self.dataset.count_rows()
        return count


def _dataset_of(source: Any, file_format: str, options: dict[str, Any]) -> Any:
    import pyarrow.dataset as ds  # takes milliseconds, as does the next one
    import pyarrow.parquet as pq

    if isinstance(source, ds.Dataset):
        schema = options["schema"]
        return source if schema is None else source.replace_schema(schema)
    if file_format != "parquet":
        source = {"ipc": ds.IpcFileFormat, "orc": ds.OrcFileFormat}[file_format]().make_fragment(source)
    if isinstance(source, ds.Fragment):
        schema = options["schema"] or source.physical_schema
        return ds.FileSystemDataset([source], schema, source.format, source.filesystem)
    return pq.ParquetDataset(list(source) if isinstance(source, tuple) else source, **options)._dataset


def _expression_of(filters: Any) -> Any:
    if filters is None:
        return None
    import pyarrow.parquet as pq

    return pq.filters_to_expression(filters)


def read_table(context: _native.Context, scan: Scan, progress: _Report) -> pa.Table:
    """All rows of a scan in a table on the device."""
    report = _Progress(progress, scan)
    try:
        table: pa.Table = attempted(
            lambda cudf: _by_cudf(context, lambda: cudf.read_parquet(scan, report))
        )
    except (Refusal, pa.ArrowException):  # pyarrow has errors of its own for damaged files
        table = _batches(context, scan, report).read_all()
    report.end()
    return table


def _by_cudf(context: _native.Context, read: Callable[[], Any]) -> Any:
    """What a function reads by libcudf, in a context."""

    def shared() -> Any:
        rmm_resource.share_memory(context)
        return read()

    return _native._computing_in(context, shared)


def _batches(context: _native.Context, scan: Scan, report: _Progress) -> Any:
    """A reader of the rows on the device, which pyarrow decodes on the host."""
    reader = scan.scanner(batch_size=_ROWS_AT_ONCE).to_reader()
    return reader.copy_to(context, progress=lambda rows, _: report(rows))


class _Progress:
    """Tells a callback how many rows of the files are on the device, or are not wanted."""

    def __init__(self, progress: _Report, scan: Scan) -> None:
        self._progress, self._done = progress, 0
        self._total = 0 if progress is None else scan.rows()

    def __call__(self, rows: int) -> None:
        """Rows from the first one on; a reader that begins anew reports none of them twice."""
        if self._progress is not None and self._done < rows < self._total:
            self._done = rows
            self._progress(rows, self._total)

    def end(self) -> None:
        if self._progress is not None:
            self._progress(self._total, self._total)
