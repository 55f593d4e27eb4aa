"""Files that are read into device memory and written from it: how each kind is copied.

================================================  ==================================================
the file                                          the way
================================================  ==================================================
a regular one with a size                         several threads read it, one writes it
                                                  (``_native``); or KvikIO does (``kvikio``)
without a size: pipes, files of ``/proc`` and     this thread, in pieces, until the end
``/sys``, devices
================================================  ==================================================

KvikIO reads and writes only files of the first kind.  For the others, a caller who asks for it gets
this thread, or the error that KvikIO is not installed.
"""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

import pyarrow

from .. import _native
from .._progress import Progress, Report, reporting
from . import kvikio as kvikio_files
from . import refused_files

_Name: TypeAlias = str | bytes | int

#: How much is read or written at a time where one thread does it in Python.  Some files of `/proc`
#: refuse 4 MiB.
_PIECE = 1 << 20


def buffer_from_file(
    self: _native.Context,
    path: Any,
    offset: int = 0,
    nbytes: int | None = None,
    *,
    direct: bool | None = None,
    kvikio: bool | None = None,
    progress: Progress = None,
) -> _native.CudaBuffer:
    """Allocate device memory and read a file into it.

    Several threads read a large file, straight into pinned memory, so its bytes
    are copied once on the host.  To read Arrow data that lies in the file, open
    the buffer: ``pa.ipc.open_file(cuda.BufferReader(buf))``.

    Parameters
    ----------
    path : str, bytes, os.PathLike, int or file
        A path, the descriptor of an open file, or a file that ``open(path, "rb")``,
        `tempfile` or `pyarrow.OSFile` has opened.  The position of an open file does
        not matter, and stays as it is.  What has no size, such as a pipe or a file
        of ``/proc``, is read to its end, or until there are `nbytes`, by one thread.
    offset : int, default 0
        Where in the file to begin, in bytes.
    nbytes : int, optional
        How many bytes to read; by default all from `offset` on.
    direct : bool, optional
        Whether to read past the system's page cache (``O_DIRECT``), where the file
        system can.  By default that is done if most of the bytes are not in the
        cache, and they would take more than half of the memory that the system
        has available.
    kvikio : bool, optional
        Whether KvikIO reads the file, by GPUDirect Storage if it can.  By default
        it does if it is installed, GPUDirect Storage is available, at least
        1 MiB is read of which most is not in the page cache, and `direct` is not
        False.
    progress : callable or bool, optional
        Is called on this thread as ``progress(done, total)``, numbers of bytes:
        every 64 MiB or less, and at the end.  If it raises, nothing more is read,
        and the exception goes on to the caller.  True shows a bar: of tqdm where that is
        installed, else a line on standard error.

    Returns
    -------
    cbuf : CudaBuffer
        Owns the memory.

    Raises
    ------
    OSError
        If the file cannot be opened or read, as `open` raises it, with the path as
        ``filename``; if it becomes shorter meanwhile.
    ValueError
        If the file has fewer bytes, or a number is negative.
    TypeError
        If `path` is not one of these: the bytes of other objects need not be those of
        their descriptors.
    OutOfMemoryError
        If the device has too little free memory: an OSError and a MemoryError.
    ImportError
        If `kvikio` is True, and it is not installed.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     written = file.write(b"columns")
    ...     file.flush()
    ...     ctx.buffer_from_file(file.name).to_pybytes()
    ...     ctx.buffer_from_file(file, offset=3, nbytes=2).to_pybytes()
    b'columns'
    b'um'
    """
    with reporting(progress, "buffer_from_file") as report:
        options = _native._reading_options(offset, nbytes, direct, kvikio, report)
        return _native._recorded(
            "transfer",
            "Context.buffer_from_file",
            lambda: _read(self, path, *options),
            lambda buffer: (buffer.size, self.device_number),
        )


def _read(
    context: _native.Context,
    path: Any,
    offset: int,
    nbytes: int | None,
    direct: bool | None,
    kvikio: bool | None,
    progress: Report | None,
) -> _native.CudaBuffer:
    if kvikio:
        kvikio_files.require()
    with opened(path, os.O_RDONLY) as (file, name):
        found = os.fstat(file)
        # Files of `/sys` claim a page, and have no blocks.
        has_size = found.st_blocks > 0 or found.st_size > _PIECE
        if not (stat.S_ISREG(found.st_mode) and found.st_size and has_size):
            return _buffer_from_pieces(context, file, name, offset, nbytes, progress)
        if offset > found.st_size:
            raise ValueError(
                f"offset argument must be at most {found.st_size}, the size of {name!r}, "
                f"not {offset}"
            )
        rest = found.st_size - offset
        if nbytes is None:
            nbytes = rest
        if nbytes > rest:
            raise _too_few("nbytes", nbytes, name, offset, rest)
        buffer = _native.Context.new_buffer(context, nbytes)
        if kvikio is None:
            kvikio = (
                direct is not False
                and kvikio_files.is_worth_it(nbytes)
                and not _native._is_cached(file, offset, nbytes)
            )
        if kvikio:
            kvikio_files.read(buffer, file, name, offset, progress)
        else:
            _native._copy_from_file(buffer, file, name, offset, direct, progress)
        return buffer


def buffer_to_file(
    self: _native.CudaBuffer,
    path: Any,
    position: int = 0,
    nbytes: int = -1,
    *,
    offset: int | None = None,
    direct: bool = False,
    kvikio: bool | None = None,
    progress: Progress = None,
) -> int:
    """Write the buffer to a file.

    The device copies into one half of some pinned memory while this thread writes
    the other to the file.  Waits for work on the default stream, but not for work
    on other streams: use ``buf.context.synchronize()`` for that.

    Parameters
    ----------
    path : str, bytes, os.PathLike, int or file
        A path, the descriptor of an open file, or a binary file that `open`,
        `tempfile` or `pyarrow.OSFile` has opened for writing.  The position of an
        open file does not matter, and stays as it is.
    position : int, default 0
        Where in the device buffer to begin, in bytes.
    nbytes : int, default -1
        How many bytes to write; -1 for all from `position` on.
    offset : int, optional
        Where in the file to begin, in bytes.  The file keeps its other bytes.  By
        default a file that is given by its path has no others: it is created, or
        emptied first.  An open file is written from its start on.
    direct : bool, default False
        Whether to write past the system's page cache (``O_DIRECT``), where the file
        system can.
    kvikio : bool, optional
        Whether KvikIO writes the file, by GPUDirect Storage if it can.  By default
        it does if it is installed, GPUDirect Storage is available, and at least
        1 MiB is written with `direct`.
    progress : callable or bool, optional
        Is called on this thread as ``progress(done, total)``, numbers of bytes:
        every 64 MiB or less, and at the end.  If it raises, nothing more is
        written, and the exception goes on to the caller.  True shows a bar, as for
        `Context.buffer_from_file`.

    Returns
    -------
    nbytes : int
        The number of bytes written.  They are on the disk after ``os.fsync``, as
        with any file.

    Raises
    ------
    OSError
        If the file cannot be opened or written, as `open` raises it, with the path
        as ``filename``; if the device fails.  Some bytes may have been written.
    ValueError
        If the range is outside the buffer, `offset` is negative, or the file is open
        for appending.
    TypeError
        If `path` is not one of these.
    ImportError
        If `kvikio` is True, and it is not installed.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> buf = ctx.buffer_from_data(b"0123456789")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "digits")
    ...     buf.copy_to_file(path)
    ...     buf.copy_to_file(path, position=7, nbytes=2, offset=1)
    ...     path.read_bytes()
    10
    2
    b'0783456789'
    """
    with reporting(progress, "copy_to_file") as report:
        options = _native._writing_options(self, position, nbytes, offset, direct, kvikio, report)
        return _native._recorded(
            "transfer",
            "CudaBuffer.copy_to_file",
            lambda: _write(path, *options),
            lambda size: (size, self.context.device_number),
        )


def _write(
    path: Any,
    buffer: _native.CudaBuffer,
    offset: int | None,
    direct: bool,
    kvikio: bool | None,
    progress: Report | None,
) -> int:
    if kvikio:
        kvikio_files.require()
    with opened(path, os.O_WRONLY | os.O_CREAT) as (file, name):
        if _native._open_flags(file) & os.O_APPEND:
            raise ValueError(f"path argument must not be open for appending: {name!r}")
        # Not while it is opened: an interrupt after that would lose the descriptor, and emptying
        # a large file takes long.
        is_path = isinstance(path, str | bytes | os.PathLike)
        if is_path and offset is None and stat.S_ISREG(os.fstat(file).st_mode):
            os.ftruncate(file, 0)
        if not _has_positions(file):
            _write_pieces(buffer, file, name, offset or 0, progress)
        elif kvikio or (kvikio is None and direct and kvikio_files.is_worth_it(buffer.size)):
            kvikio_files.write(buffer, file, name, offset or 0, progress)
        else:
            _native._copy_to_file(buffer, file, name, offset or 0, direct, progress)
    return buffer.size


@contextmanager
def opened(path: Any, flags: int, argument: str = "path") -> Iterator[tuple[int, _Name]]:
    """A descriptor, and what errors call the file.

    The descriptor of an open file is copied, so that it stays open when another thread, or a
    callback, closes that one.
    """
    name: _Name
    if isinstance(path, str | bytes | os.PathLike):
        name = os.fspath(path)
        # The path itself, which is what `open` shows in its errors.
        try:
            file = os.open(path, flags | os.O_CLOEXEC, 0o666)
        except FileNotFoundError:
            raise refused_files.missing(name, flags == os.O_RDONLY) from None
    elif isinstance(path, int) and not isinstance(path, bool):
        name = path
        try:
            file = os.dup(path)
        except OverflowError:
            raise _error(errno.EBADF, name) from None
        except OSError as error:
            raise _error(error.errno, name) from None
    else:
        copied = _native._descriptor(path)
        if copied is None and type(path) is pyarrow.OSFile:
            raise TypeError("pyarrow before 25 does not know an OSFile's descriptor: pass its path")
        if copied is None:
            raise refused_files.not_a_file(argument, path)
        file = copied
        name = getattr(path, "name", type(path).__name__)
    try:
        if stat.S_ISDIR(os.fstat(file).st_mode):
            raise _error(errno.EISDIR, name)
        # Who opened it with this flag has to align everything.
        status = _native._open_flags(file)
        if status & os.O_DIRECT:
            direct = file
            file = os.open(f"/proc/self/fd/{direct}", status & os.O_ACCMODE | os.O_CLOEXEC)
            os.close(direct)
        yield file, name
    finally:
        os.close(file)


def _buffer_from_pieces(
    context: _native.Context,
    file: int,
    name: _Name,
    offset: int,
    nbytes: int | None,
    progress: Report | None,
) -> _native.CudaBuffer:
    if nbytes is None:
        if stat.S_ISCHR(os.fstat(file).st_mode):
            raise ValueError(
                f"nbytes argument is needed for a device, which may never end: {name!r}"
            )
        data = b"".join(pieces_of(file, name, offset, None))
        buffer = _native.Context.buffer_from_data(context, data)
        if progress:
            progress(len(data), len(data))
        return buffer
    buffer = _native.Context.new_buffer(context, nbytes)
    done = 0
    for piece in pieces_of(file, name, offset, nbytes):
        done += buffer.copy_from_host(piece, position=done)
        if progress:
            progress(done, nbytes)
    if done < nbytes:
        raise _too_few("nbytes", nbytes, name, offset, done)
    if progress and not nbytes:
        progress(0, 0)
    return buffer


def pieces_of(file: int, name: _Name, offset: int, nbytes: int | None) -> Iterator[bytes]:
    """What a file has from `offset` on, to its end or until there are `nbytes`."""
    has_positions = bool(offset) or _has_positions(file)
    done = 0
    while nbytes is None or done < nbytes:
        size = _PIECE if nbytes is None else min(_PIECE, nbytes - done)
        try:
            piece = os.pread(file, size, offset + done) if has_positions else os.read(file, size)
        except OSError as error:
            raise _error(error.errno, name) from None
        if not piece:
            if offset and not done:
                raise ValueError(
                    f"offset argument must be within {name!r}, which ends before {offset}"
                )
            return
        done += len(piece)
        yield piece


def _write_pieces(
    buffer: _native.CudaBuffer, file: int, name: _Name, offset: int, progress: Report | None
) -> None:
    """Writes to what has no positions."""
    if offset:
        raise _error(errno.ESPIPE, name)
    for start in range(0, buffer.size, _PIECE):
        part = buffer.slice(start, min(_PIECE, buffer.size - start))
        rest = memoryview(part.to_pybytes())
        while rest:
            try:
                rest = rest[os.write(file, rest) :]
            except OSError as error:
                raise _error(error.errno, name) from None
        if progress:
            progress(start + part.size, buffer.size)
    if progress and not buffer.size:
        progress(0, 0)


def _has_positions(file: int) -> bool:
    try:
        os.lseek(file, 0, os.SEEK_CUR)
    except OSError:
        return False
    return True


def _error(code: int | None, name: _Name) -> OSError:
    code = errno.EIO if code is None else code
    return OSError(code, os.strerror(code), name)


def _too_few(argument: str, asked: int, name: _Name, offset: int, rest: int) -> ValueError:
    return ValueError(
        f"{argument} argument must be at most {rest}, as many bytes as {name!r} has from {offset} "
        f"on, not {asked}"
    )
