"""Tables on a device of Arrow files and streams, compressed or not.

Several threads read a file, and decompress it, straight into pinned memory (``_native``).  Sources
without a size, and sources on a device, are copied to host memory first.  pyarrow itself reads some
files on the host: with delta dictionaries, the other byte order, or the first forms of compression.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterable
from typing import Any

import pyarrow as pa

from .. import _native
from .files import _Progress, opened, pieces_of


def table_from_file(
    self: _native.Context,
    source: Any,
    *,
    columns: Iterable[str] | None = None,
    progress: _Progress = None,
) -> pa.Table:
    """Read an Arrow file or stream, compressed or not, into a table on the device.

    Several threads read a file and decompress it, straight into pinned memory, so its
    columns are written once on the host.

    Parameters
    ----------
    source : str, os.PathLike, int, file, Buffer, CudaBuffer or bytes-like
        A path, the descriptor of an open file, a binary file, or the bytes of one.  All
        of an open file is read, wherever its position is, if it has a size.  The bytes of
        pipes and of a CudaBuffer, and what other objects' ``read`` returns, are brought to
        host memory first.
    columns : iterable of str, optional
        The names of the columns to read, in the order of the table; by default all.
    progress : callable, optional
        Is called on this thread as ``progress(done, total)``, numbers of bytes on the
        device: now and then, and at the end.  If it raises, nothing more is read, and the
        exception goes on to the caller.

    Returns
    -------
    table : pyarrow.Table
        With a chunk for each record batch.  All columns share an allocation.

    Raises
    ------
    OSError
        If the file cannot be opened, read or decompressed; if it becomes shorter
        meanwhile.
    ArrowInvalid
        If the file is damaged, or not an Arrow file or stream.
    KeyError
        If no column, or more than one, has a name of `columns`.
    TypeError
        If `source` or `columns` is not one of these.
    OutOfMemoryError
        If the device has too little free memory: an OSError and a MemoryError.

    Examples
    --------
    >>> import tempfile, pyarrow.feather
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = f"{folder}/columns.arrow"
    ...     pyarrow.feather.write_feather(pa.table({"x": [1, 2], "y": ["a", "b"]}), path)
    ...     table = ctx.table_from_file(path, columns=["y"])
    >>> table.copy_to(pa.default_cpu_memory_manager())["y"].to_pylist()
    ['a', 'b']
    """
    _native._check_progress(progress)
    return _native._recorded(
        "transfer",
        "Context.table_from_file",
        lambda: _read(self, source, columns, progress),
        lambda _: (None, self.device_number),
    )


def _read(
    context: _native.Context, source: Any, columns: Iterable[str] | None, progress: _Progress
) -> pa.Table:
    names = None if columns is None else list(columns)
    if isinstance(columns, str) or not all(isinstance(name, str) for name in names or ()):
        raise TypeError(f"columns argument must be names of columns: {columns!r}")
    data = _data_of(source)
    if data is not None:
        return _table(context, None, data, names, progress)
    with opened(source, os.O_RDONLY, "source") as (file, name):
        found = os.fstat(file)
        if stat.S_ISREG(found.st_mode) and found.st_size:
            try:
                return _table(context, file, name, names, progress)
            except (OSError, pa.ArrowInvalid) as error:
                if isinstance(error, OSError) and error.errno:
                    error.filename = error.filename or name
                else:
                    error.add_note(f"while reading the file {name!r}")
                raise
        if stat.S_ISCHR(found.st_mode):
            raise ValueError(f"source argument must not be a device, which may never end: {name!r}")
        return _table(
            context, None, pa.py_buffer(b"".join(pieces_of(file, name, 0, None))), names, progress
        )


def _data_of(source: Any) -> Any:
    """The bytes of what is no file of the system, as a buffer; else None."""
    if isinstance(source, pa.Buffer) and not source.is_cpu:
        return _native.CudaBuffer.from_buffer(source).copy_to_host()
    if isinstance(source, str | int | os.PathLike):
        return None
    with contextlib.suppress(TypeError):
        return pa.py_buffer(source)  # supports the buffer protocol
    descriptor = _native._descriptor(source)
    if descriptor is not None:
        os.close(descriptor)
    elif hasattr(source, "read"):
        is_native = isinstance(source, pa.NativeFile)
        return source.read_buffer() if is_native else pa.py_buffer(source.read())
    return None


def _table(
    context: _native.Context,
    file: int | None,
    data: Any,
    columns: list[str] | None,
    progress: _Progress,
) -> pa.Table:
    table = _native._table_of(context, file, data, columns, progress)
    if table is None:
        on_host = _read_on_host(file, data)
        if columns is not None:
            on_host = on_host.select(columns)
        table = on_host.copy_to(context.memory_manager)
        if progress is not None:
            progress(on_host.nbytes, on_host.nbytes)
    return table


def _read_on_host(file: int | None, data: Any) -> pa.Table:
    with pa.BufferReader(data) if file is None else pa.OSFile(f"/proc/self/fd/{file}") as source:
        is_file = source.read(6) == b"ARROW1"
        source.seek(0)
        return (pa.ipc.open_file if is_file else pa.ipc.open_stream)(source).read_all()
