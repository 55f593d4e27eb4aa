"""Files that are read into device memory and written from it: which ones, and which way they go.

================================================  ==================================================
the file                                          the way
================================================  ==================================================
a regular one with a size                         several threads read it, one writes it
                                                  (``_native``); or KvikIO does (``kvikio``)
what has no size: pipes, files of ``/proc`` and   this thread, in pieces, until the end
``/sys``, devices
================================================  ==================================================

KvikIO reads and writes only files of the first kind.  For the others, a caller who asks for it gets
this thread, or the error that KvikIO is not installed.
"""

import errno
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

import pyarrow

from .. import _native
from . import kvikio as kvikio_files

_Name: TypeAlias = str | bytes | int
_Progress: TypeAlias = Callable[[int, int], object] | None

#: How much is read or written at a time where one thread does it in Python.  Some files of `/proc`
#: refuse 4 MiB.
_PIECE = 1 << 20


def buffer_from_file(
    context: _native.Context,
    path: Any,
    offset: int,
    nbytes: int | None,
    direct: bool | None,
    kvikio: bool | None,
    progress: _Progress,
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
    buffer: _native.CudaBuffer,
    path: Any,
    offset: int | None,
    direct: bool,
    kvikio: bool | None,
    progress: _Progress,
) -> None:
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
        file = os.open(path, flags | os.O_CLOEXEC, 0o666)
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
            raise TypeError(
                f"{argument} argument must be a path, the descriptor of an open file, or a binary "
                f"file of `open`, `tempfile` or `pyarrow.OSFile`, not {type(path).__name__}"
            )
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
    progress: _Progress,
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
    buffer: _native.CudaBuffer, file: int, name: _Name, offset: int, progress: _Progress
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
