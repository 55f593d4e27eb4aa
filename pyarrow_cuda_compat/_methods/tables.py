"""Tables on a device of files: Arrow files and streams here, Parquet and folders by `datasets`.

Several threads read an Arrow file, and decompress it, straight into pinned memory (``_native``).
Sources without a size, and sources on a device, are copied to host memory first.  pyarrow itself
reads some files on the host: with delta dictionaries, the other byte order, nulls that nobody has
counted, or the first forms of compression.
"""

from __future__ import annotations

import contextlib
import io
import os
import stat
from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa

from .. import _native
from .._data import to_host
from .._progress import Progress, Report, reporting
from . import datasets, refused_files
from .files import opened, pieces_of

#: Formats of which the messages are read here: streams, and files if all rows are wanted.
_MESSAGES = (None, "ipc")


def table_from_file(
    self: _native.Context,
    source: Any,
    *,
    columns: Iterable[str] | None = None,
    filters: Any = None,
    schema: pa.Schema | None = None,
    filesystem: Any = None,
    partitioning: Any = "hive",
    progress: Progress = None,
) -> pa.Table:
    """Read Arrow or Parquet files into a table on the device.

    Several threads read an Arrow file or stream, and decompress it, straight into pinned
    memory, so its columns are written once on the host.

    Of Parquet files, the table is what `pyarrow.parquet.read_table` returns for the same
    arguments, but for the chunks.  With pylibcudf installed, libcudf decodes them on the
    device.  pyarrow decodes on the host what libcudf does not read in the same way, and all
    files without pylibcudf; earlier batches are copied meanwhile.

    Parameters
    ----------
    source : str, os.PathLike, int, file, Buffer, bytes-like, list of paths, Dataset or Fragment
        A path, the descriptor of an open file, a binary file, or the bytes of one.  All
        of an open file is read, wherever its position is, if it has a size.  The bytes of
        pipes and of a CudaBuffer, and what the ``read`` of other objects, such as a
        `BufferReader`, returns, are brought to host memory first.  Of Parquet files also a
        folder, a list of paths, a URI, or a dataset or fragment of `pyarrow.dataset`.
    columns : iterable of str, optional
        The names of the columns to read, in the order of the table; by default all.
    filters : pyarrow.compute.Expression, list of tuple or list of list of tuple, optional
        Which rows to keep, as `pyarrow.parquet.read_table` takes them.  Row groups and files
        that have no such row are not read.
    schema : pyarrow.Schema, optional
        The names and types of all columns, to which those of Parquet files are cast; by
        default those of the first file.
    filesystem : pyarrow.fs.FileSystem or fsspec's, optional
        Where the paths are; by default on this machine, or as a URI says.
    partitioning : pyarrow.dataset.Partitioning, str or list of str, default "hive"
        How the folders of a path name values of columns.
    progress : callable or bool, optional
        Is called on this thread as ``progress(done, total)``, now and then and at the end:
        numbers of bytes.  Of an Arrow file they are those of its columns, of Parquet files those
        of the files, in proportion to the rows that were read.  Where nobody knows the
        size of the files, `done` counts bytes on the device, and `total` is None.
        If it raises, nothing more is read, and the exception goes on to the caller.
        True shows a bar, as for `buffer_from_file`.

    Returns
    -------
    table : pyarrow.Table
        Of an Arrow file with a chunk for each record batch; all columns share an allocation.
        Of Parquet files with as few chunks as the memory allows.

    Raises
    ------
    OSError
        If the file cannot be opened, read or decompressed; if it becomes shorter
        meanwhile.
    ArrowInvalid
        If a file is damaged, or none of these; if a Parquet file lacks a column of `columns`
        or `filters`, or has values that the type of `schema` has not.
    KeyError
        If no column of an Arrow file, or more than one, has a name of `columns`.
    TypeError
        If `source` or `columns` is not one of these.
    OutOfMemoryError
        If the device has too little free memory: an OSError and a MemoryError.  Read fewer
        columns, fewer rows, or batches by `reader_from_file`.

    Examples
    --------
    >>> import tempfile, pyarrow.feather, pyarrow.parquet
    >>> table = pa.table({"x": [1, 2], "y": ["a", "b"]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pyarrow.feather.write_feather(table, f"{folder}/columns.arrow")
    ...     of_arrow = ctx.table_from_file(f"{folder}/columns.arrow", columns=["y"])
    ...     pyarrow.parquet.write_table(table, f"{folder}/columns.parquet")
    ...     of_parquet = ctx.table_from_file(f"{folder}/columns.parquet", filters=[("x", ">", 1)])
    >>> of_arrow.copy_to("cpu")["y"].to_pylist()
    ['a', 'b']
    >>> of_parquet.copy_to("cpu").to_pylist()
    [{'x': 2, 'y': 'b'}]
    """
    with reporting(progress, "table_from_file") as report:
        names, source = names_of(columns), expanded(source)
        options = {"schema": schema, "filesystem": filesystem, "partitioning": partitioning}
        return _native._recorded(
            "transfer",
            "Context.table_from_file",
            lambda: _read(self, source, names, filters, options, report),
            lambda table: (table.get_total_buffer_size(), self.device_number),
        )


def names_of(columns: Iterable[str] | None) -> list[str] | None:
    is_wrong = isinstance(columns, str) or not isinstance(columns, Iterable | None)
    names = None if columns is None or is_wrong else list(columns)
    if is_wrong or not all(isinstance(name, str) for name in names or ()):
        raise TypeError(
            f"columns argument must be a list of names, such as ['x', 'y'], not {columns!r}"
        )
    return names


def expanded(source: Any) -> Any:
    """A path as text, where a tilde is the home folder as for pyarrow; other sources unchanged."""
    is_path = isinstance(source, str | os.PathLike)
    return os.path.expanduser(os.fsdecode(source)) if is_path else source  # noqa: PTH111


def _read(
    context: _native.Context,
    source: Any,
    names: list[str] | None,
    filters: Any,
    options: dict[str, Any],
    progress: Report | None,
) -> pa.Table:
    def of_dataset(source: Any, kind: str | None) -> pa.Table:
        scan = datasets.Scan(source, names, filters, kind, options)
        return datasets.read_table(context, scan, progress)

    if options["filesystem"] is not None or datasets.is_more_than_a_file(source):
        return of_dataset(source, "parquet")
    asks_more = filters is not None or options["schema"] is not None
    data = data_of(source)
    if data is not None:
        beginning = memoryview(data)[: refused_files.BEGINNING].tobytes()
        kind = datasets.format_of(beginning)
        with refused_files.explained(beginning):
            if asks_more or kind not in _MESSAGES:
                return of_dataset(pa.BufferReader(data), kind)
            return _table(context, None, data, names, progress)
    with opened(source, os.O_RDONLY, "source") as (file, name), named(name):
        if not has_size(file, name):
            data = pa.py_buffer(b"".join(pieces_of(file, name, 0, None)))
            return _read(context, data, names, filters, options, progress)
        beginning = os.pread(file, refused_files.BEGINNING, 0)
        kind = datasets.format_of(beginning)
        with refused_files.explained(beginning):
            if asks_more or kind not in _MESSAGES:
                return of_dataset(_path_of(source, file), kind)
            return _table(context, file, name, names, progress)


@contextlib.contextmanager
def named(name: Any) -> Iterator[None]:
    """Adds a file's name, if it has one, to errors that say what is wrong with it."""
    try:
        yield
    except (OSError, pa.ArrowInvalid, pa.ArrowKeyError) as error:
        if isinstance(error, OSError) and error.errno:
            error.filename = error.filename or name
        elif name is not None:
            error.add_note(f"while reading the file {name!r}")
        raise


def has_size(file: int, name: Any) -> bool:
    """Whether an open file is one of a file system, with a size.

    Raises
    ------
    ValueError
        If it is a device.
    """
    found = os.fstat(file)
    if stat.S_ISCHR(found.st_mode):
        raise ValueError(f"source argument must not be a device, which may never end: {name!r}")
    return stat.S_ISREG(found.st_mode) and found.st_size > 0


def _path_of(source: Any, file: int) -> str:
    if isinstance(source, str):
        return source
    return f"/proc/{os.getpid()}/fd/{file}"  # which another process opens as well


def data_of(source: Any) -> Any:
    """The bytes of what is no file of the system, as a buffer; else None."""
    if _is_there(source):
        return to_host(source)
    if isinstance(source, str | int):
        return None
    if isinstance(source, io.TextIOBase):
        raise refused_files.not_a_file("source", source)
    with contextlib.suppress(TypeError):
        return pa.py_buffer(source)  # supports the buffer protocol
    descriptor = _native._descriptor(source)
    if descriptor is not None:
        os.close(descriptor)
    elif hasattr(source, "read"):
        return _rest_of(source)
    return None


def _is_there(source: Any) -> bool:
    return isinstance(source, pa.Buffer) and not source.is_cpu


def _rest_of(source: Any) -> pa.Buffer:
    """What an object reads."""
    data = source.read_buffer() if isinstance(source, pa.NativeFile) else source.read()
    try:
        found: pa.Buffer = to_host(data) if _is_there(data) else pa.py_buffer(data)
    except TypeError:  # it reads no bytes
        raise refused_files.not_a_file("source", source) from None
    is_seekable = getattr(source, "seekable", bool)()
    if not found.size and is_seekable and (place := source.tell()):
        raise pa.ArrowInvalid(
            f"the source is at its end, {place} bytes behind its start: source.seek(0) goes there"
        )
    return found


def _table(
    context: _native.Context,
    file: int | None,
    data: Any,
    columns: list[str] | None,
    progress: Report | None,
) -> pa.Table:
    table = _native._table_of(context, file, data, columns, progress)
    if table is None:
        on_host = _read_on_host(file, data)
        if columns is not None:
            on_host = on_host.select(columns)
        table = on_host.copy_to(context)
        if progress is not None:
            progress(on_host.nbytes, on_host.nbytes)
    return table


def _read_on_host(file: int | None, data: Any) -> pa.Table:
    with pa.BufferReader(data) if file is None else pa.OSFile(f"/proc/self/fd/{file}") as source:
        is_file = source.read(6) == b"ARROW1"
        source.seek(0)
        table = (pa.ipc.open_file if is_file else pa.ipc.open_stream)(source).read_all()
    table.validate()  # pyarrow before 25 compares no sizes
    return table
