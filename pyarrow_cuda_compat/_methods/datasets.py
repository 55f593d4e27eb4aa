"""Tables on a device of Parquet and other files, one or many, by pyarrow's datasets.

A dataset says which files there are, and what pyarrow reads of them.  libcudf decodes those Parquet
files on the device of which its answer is pyarrow's (`_cudf.parquet`).  pyarrow decodes all others
on the host, while earlier batches are copied.
"""

from __future__ import annotations

import os  # not pathlib, whose import takes milliseconds
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, TypeVar

import pyarrow as pa

from .. import _native
from .._cudf import rmm_resource
from .._cudf.expressions import fields_of
from .._cudf.library import attempted
from .._cudf.refusals import NotCovered, Refusal, RefusedByLibrary
from .._progress import Progress, Report
from .row_groups import decided_by_statistics
from .scanners import scanner_of

_T = TypeVar("_T")

#: How files begin, by pyarrow's name of their format.
_MAGIC = {b"PAR1": "parquet", b"PARE": "parquet", b"ARROW1": "ipc", b"ORC": "orc"}
#: Rows that pyarrow decodes at a time, so that one batch is copied while it decodes the next.
_ROWS_AT_ONCE = 1 << 20
#: libcudf has fewer rows in a column.
_ALL_ROWS = 1 << 62
#: What to do about an error of pyarrow, by words in its text.
_WAYS_OUT = {
    "Parquet magic bytes not found": (
        "Lists, folders, URIs and paths with filesystem= are read as Parquet files; for files of "
        "another format pass pyarrow.dataset.dataset(source, format='ipc')"
    ),
    "Unrecognized filesystem type in URI": (
        "pyarrow.fs does not know such URIs: open it, as by fsspec.open(uri), and pass the file"
    ),
    "Unsupported hostname": "Pass the path itself, or a URI with three slashes: file:///folder/name",
}


def is_more_than_a_file(source: Any) -> bool:
    """Whether a source is a list, a folder, a URI, or of `pyarrow.dataset`."""
    if isinstance(source, str | os.PathLike):
        is_uri = "://" in str(source) and not os.path.exists(source)  # noqa: PTH110
        return is_uri or os.path.isdir(source)  # noqa: PTH112
    module = type(source).__module__
    is_of_datasets = module.startswith("pyarrow._dataset") and not hasattr(source, "to_reader")
    return isinstance(source, list | tuple) or is_of_datasets


def format_of(beginning: bytes) -> str | None:
    """The format of a file that begins so; None for Arrow streams, and for what is unknown."""
    return next((name for magic, name in _MAGIC.items() if beginning.startswith(magic)), None)


class Scan:
    """Rows and columns of a dataset, in pyarrow's words.

    Parameters
    ----------
    source : str, os.PathLike, file, Buffer, list of paths, Dataset or Fragment
    options : dict
        Of `pyarrow.parquet.ParquetDataset`.
    """

    def __init__(
        self,
        source: Any,
        columns: list[str] | None,
        filters: Any,
        file_format: str | None,
        options: dict[str, Any],
    ) -> None:
        if file_format is None:
            raise pa.ArrowInvalid(
                "filters and schema arguments are for Parquet, ORC and Arrow files; read an Arrow "
                "stream without them, and filter or cast the table"
            )
        #: A `pyarrow.dataset.Dataset`.
        self.dataset = _dataset_of(source, file_format, options)
        self.columns, self.filter = columns, _expression_of(filters)
        #: Of the result.
        self.schema = self.dataset.scanner(columns=columns, filter=self.filter).projected_schema
        #: The part of the filter by which row groups are skipped.
        self.decided = self.filter
        if self.filter is not None:
            self.decided = decided_by_statistics(self.filter, self.dataset.schema)

    def reader(self, batch_size: int) -> pa.RecordBatchReader:
        """The rows, which pyarrow decodes on the host."""
        is_enough = self.decided is self.filter
        columns = self.columns if is_enough else self._read_columns()
        scanner = scanner_of(
            self.dataset, columns=columns, filter=self.decided, batch_size=batch_size
        )
        if is_enough:
            return scanner.to_reader()
        batches = scanner.to_batches()
        kept = (it.filter(self.filter).select(self.schema.names) for it in batches)
        return pa.RecordBatchReader.from_batches(self.schema, kept)

    def _read_columns(self) -> list[str] | None:
        """The columns of the result and of the filter; None for all."""
        with suppress(NotCovered):
            if self.columns is not None:
                return [*dict.fromkeys([*self.columns, *fields_of(self.filter)])]
        return None

    def rows(self) -> int:
        """How many rows its files have."""
        count: int = self.dataset.count_rows()
        return count

    def size(self) -> int | None:
        """The bytes of its files; None if one of them says nothing of its size."""
        import pyarrow.dataset as ds

        sizes = []
        for fragment in self.dataset.get_fragments():
            if isinstance(fragment, ds.FileFragment) and fragment.buffer is not None:
                sizes.append(fragment.buffer.size)
            elif isinstance(fragment, ds.FileFragment) and fragment.filesystem is not None:
                sizes.append(fragment.filesystem.get_file_info(fragment.path).size)
            else:  # rows in memory, or an open file
                return None
        return None if None in sizes else sum(sizes)


def _dataset_of(source: Any, file_format: str, options: dict[str, Any]) -> Any:
    import pyarrow.dataset as ds  # takes milliseconds, as does the next one
    import pyarrow.parquet as pq

    if isinstance(source, ds.Dataset | ds.Fragment):
        for name, default in (("filesystem", None), ("partitioning", "hive")):
            if options[name] != default:
                kind = type(source).__name__
                raise TypeError(f"{name} argument is for paths: a {kind} has its own; leave it out")
    if isinstance(source, ds.Dataset):
        schema = options["schema"]
        return source if schema is None else source.replace_schema(schema)
    if file_format != "parquet":
        source = _fragment_of(
            source, {"ipc": ds.IpcFileFormat, "orc": ds.OrcFileFormat}[file_format]()
        )
    if isinstance(source, ds.Fragment) and not isinstance(source, ds.FileFragment):
        source = ds.dataset(source.to_table())  # the fragment of a dataset in memory
        return _dataset_of(source, file_format, options)
    if isinstance(source, ds.Fragment):
        schema = options["schema"] or source.physical_schema
        return ds.FileSystemDataset([source], schema, source.format, source.filesystem)
    paths = list(source) if isinstance(source, tuple) else source
    try:
        return pq.ParquetDataset(paths, **options)._dataset
    except pa.ArrowInvalid as error:
        way_out = next((_WAYS_OUT[words] for words in _WAYS_OUT if words in str(error)), None)
        if way_out is None:
            raise
        raise pa.ArrowInvalid(f"{str(error).removesuffix('.')}. {way_out}") from error


def _fragment_of(source: Any, file_format: Any) -> Any:
    import pyarrow.fs

    is_path = isinstance(source, str | os.PathLike)
    return file_format.make_fragment(source, pyarrow.fs.LocalFileSystem() if is_path else None)


def _expression_of(filters: Any) -> Any:
    if filters is None:
        return None
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    if not isinstance(filters, pc.Expression | list | tuple):
        raise TypeError(
            "filters argument must be an Expression, such as pyarrow.compute.field('x') > 5, or a "
            f"list of tuples, such as [('x', '>', 5)], not {filters!r}"
        )

    return pq.filters_to_expression(filters)


def read_table(context: _native.Context, scan: Scan, progress: Report | None) -> pa.Table:
    """All rows of a scan in a table on the device."""
    with _with_less_memory("read fewer columns or rows, or batches by Context.reader_from_file"):
        return _read_table(context, scan, progress)


@contextmanager
def _with_less_memory(way_out: str) -> Iterator[None]:
    """Says what takes less memory, if the device has too little."""
    try:
        yield
    except _native.OutOfMemoryError as error:
        raise _native.OutOfMemoryError(f"{error}: {way_out}") from error


def _read_table(context: _native.Context, scan: Scan, progress: Report | None) -> pa.Table:
    report = _Reports(progress, scan)
    found = None
    with suppress(Refusal):  # which is not the cause of pyarrow's errors
        found = _decoded_table(context, scan, report)
    if found is None:
        report.begin_anew()
        found = _copied_table(context, scan, report)
    report.end()
    return found


def _decoded_table(context: _native.Context, scan: Scan, report: _Reports) -> pa.Table:
    tables, rows = [], 0
    for table, count in _decoded(context, scan, _ALL_ROWS):
        tables.append(table)
        rows += count
        report(rows, table.columns)
    return pa.concat_tables(tables)


def _copied_table(context: _native.Context, scan: Scan, report: _Reports) -> pa.Table:
    batches, rows = [], 0
    with _copied(context, scan) as reader:
        for batch in reader:
            batches.append(batch)
            rows += batch.num_rows
            report(rows, batch.columns)
    return pa.Table.from_batches(batches, scan.schema)


def read_batches(
    context: _native.Context, scan: Scan, batch_size: int, progress: Progress = None
) -> pa.RecordBatchReader:
    """The rows of a scan in batches on the device, of at most so many rows."""

    def batches() -> Iterator[pa.RecordBatch]:
        rows = 0
        with suppress(Refusal):  # which is not the cause of pyarrow's errors
            for table, _ in _decoded(context, scan, batch_size):
                for batch in table.to_batches(batch_size):
                    rows += len(batch)
                    yield batch
            return
        with _with_less_memory("read smaller batches, by batch_size, or fewer columns"):
            for batch in _copied(context, scan, batch_size):
                if len(batch) > rows:
                    yield batch.slice(rows)
                rows -= min(rows, len(batch))

    # A thread reads on while batches are used.
    reader = pa.RecordBatchReader.from_batches(scan.schema, batches())
    return reader.copy_to(context, progress=progress)


def _decoded(context: _native.Context, scan: Scan, rows: int) -> Iterator[tuple[pa.Table, int]]:
    """Tables that libcudf decodes, about so many rows at a time, and how many rows of the files
    each is made of."""
    reader = _by_libcudf(lambda cudf: cudf.parquet_reader(scan))
    for groups in reader.passes(rows):
        yield from _computed(context, partial(_tables_of, reader, groups))


def _computed(context: _native.Context, read: Callable[[], _T]) -> _T:
    """What a function reads by libcudf in a context."""

    def shared() -> _T:
        rmm_resource.share_memory(context)
        return read()

    return _by_libcudf(lambda _: _native._computing_in(context, shared))


def _by_libcudf(call: Callable[[Any], _T]) -> _T:
    """What a function returns, which calls libcudf.

    Raises
    ------
    Refusal
        If pyarrow has to read the files, which has errors of its own for damaged ones: such
        a file may ask for any amount of memory.
    """
    try:
        return attempted(call)
    except (pa.ArrowException, _native.OutOfMemoryError) as error:
        raise RefusedByLibrary(str(error)) from error


def _tables_of(reader: Any, groups: Any) -> list[tuple[pa.Table, int]]:
    return [*reader.tables(groups)]


def _copied(context: _native.Context, scan: Scan, batch_size: int = _ROWS_AT_ONCE) -> Any:
    """A reader of rows that pyarrow decodes on the host, while earlier ones are copied."""
    return scan.reader(batch_size).copy_to(context)


class _Reports:
    """Tells a callback how much of the files is on the device, or is not wanted."""

    def __init__(self, report: Report | None, scan: Scan) -> None:
        self._report, self._done, self._nbytes = report, 0, 0
        if report is not None:
            self._rows, self._size = scan.rows(), scan.size()

    def begin_anew(self) -> None:
        """The bytes so far do not count: others come in their place."""
        self._nbytes = 0

    def __call__(self, rows: int, columns: Any) -> None:
        """The rows from the first one on, and the last ones of them, which are on the device."""
        if self._report is None:
            return
        self._nbytes += _size_of(columns)
        if self._size is None:
            done = self._nbytes
        elif rows >= self._rows:
            return  # `end` tells so
        else:
            done = self._size * rows // self._rows
        if done > self._done:  # a reader that begins anew reports nothing twice
            self._done = done
            self._report(done, self._size)

    def end(self) -> None:
        if self._report is not None:
            self._report(self._nbytes if self._size is None else self._size, self._size)


def _size_of(columns: Any) -> int:
    """The bytes of all buffers."""
    chunks = [each for it in columns for each in getattr(it, "chunks", [it])]
    return sum(it.size for chunk in chunks for it in chunk.buffers() if it is not None)
