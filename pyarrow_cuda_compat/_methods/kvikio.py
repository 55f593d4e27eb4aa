"""Files by KvikIO, which moves them between storage and the device by GPUDirect Storage.

KvikIO is imported only where a caller asks for it, or a large file might gain by it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from .._progress import Report
from .._start.optional import required

if TYPE_CHECKING:
    from .. import _native

#: KvikIO itself uses no GPUDirect Storage for less.
_LEAST = 1 << 20
#: With a callback, this many bytes are copied between two of its calls.
_PIECE = 64 << 20


def is_worth_it(nbytes: int) -> bool:
    """Whether KvikIO would copy `nbytes` bytes without the host's memory."""
    return nbytes >= _LEAST and _has_direct_storage()


@cache
def _has_direct_storage() -> bool:
    try:
        defaults = import_module("kvikio.defaults")
        driver = import_module("kvikio.cufile_driver")
        if hasattr(defaults, "is_compat_mode_preferred"):
            is_compatible = defaults.is_compat_mode_preferred()
        else:
            mode = defaults.compat_mode()
            is_compatible = getattr(mode, "name", mode) in (True, "ON")
        if is_compatible:
            return False
        if hasattr(driver, "get"):
            return bool(driver.get("is_gds_available"))
        return bool(driver.DriverProperties().is_gds_available)
    except Exception:
        # Not installed, for another CUDA, or without a driver: nobody has asked for it.
        return False


def require() -> Any:
    """KvikIO, which a caller has asked for."""
    return required("kvikio", "this needs KvikIO: install kvikio-cu12 or kvikio-cu13")


def read(
    buffer: _native.CudaBuffer, file: int, name: object, offset: int, progress: Report | None
) -> None:
    """Reads an open file, from `offset` on, into a whole buffer."""
    with _Copies(file, "r", "pread") as copies:
        for part, at in _parts(buffer, progress):
            done = copies.make(part, offset + at)
            if done < part.size:
                end = offset + at + done
                raise OSError(f"the file ends at byte {end}, before the end of the copy: {name!r}")


def write(
    buffer: _native.CudaBuffer, file: int, name: object, offset: int, progress: Report | None
) -> None:
    """Writes a whole buffer into an open file, from `offset` on."""
    with _Copies(file, "r+", "pwrite") as copies:
        for part, at in _parts(buffer, progress):
            done = copies.make(part, offset + at)
            if done < part.size:
                raise OSError(
                    f"the file takes no more bytes at byte {offset + at + done}: {name!r}"
                )


class _Copies:
    """Copies of one file, each by tasks of KvikIO's threads.

    A thread of our own queues the tasks and waits for them: no signal's handler can raise there,
    and leave tasks behind that nobody waits for.  It keeps the file and the memory until all have
    ended, also if an exception ends the wait for it.
    """

    def __init__(self, file: int, flags: str, copy: str) -> None:
        # By this name it is the open file, whatever its path leads to by now; KvikIO takes paths.
        self._file = require().CuFile(f"/proc/self/fd/{file}", flags)
        self._copy = getattr(self._file, copy)
        self._has_ended = threading.Event()
        self._has_ended.set()

    def __enter__(self) -> _Copies:
        return self

    def __exit__(self, *_: object) -> None:
        # Otherwise the thread is the last that has the file, which its destructor closes.
        if self._has_ended.is_set():
            self._file.close()

    def make(self, part: _native.CudaBuffer, offset: int) -> int:
        """How many bytes of a part are copied, up to the first that is not."""
        result: list[int | BaseException] = []
        self._has_ended.clear()
        ended = self._has_ended

        def run(copy: Callable[..., Any] = self._copy) -> None:
            try:
                result.append(_in_tasks(copy, part, offset))
            except BaseException as error:
                result.append(error)
            finally:
                ended.set()

        thread = threading.Thread(target=run, name="KvikIO's tasks")
        try:
            thread.start()
            ended.wait()
        except BaseException:
            if thread.ident is not None:
                ended.wait()  # for the caller, who may use the memory for something else
            raise
        found = result.pop()
        if isinstance(found, BaseException):
            try:
                raise found
            finally:
                del found  # its traceback leads here, and to the memory
        return found


def _in_tasks(copy: Callable[..., Any], part: _native.CudaBuffer, offset: int) -> int:
    """How many bytes of a part are copied; all tasks have ended when this returns or raises.

    No signal's handler may raise meanwhile.

    Each call is one task of KvikIO's threads.  Of a call that KvikIO divides itself, it forgets the
    other tasks where one fails; these would go on with memory and a file that others have by then.
    """
    size = _task_size()
    tasks: list[tuple[Any, int]] = []
    try:
        for at in range(0, part.size, size):
            piece = part.slice(at, min(size, part.size - at))
            tasks.append((copy(piece, piece.size, offset + at, piece.size), piece.size))
        counts = [(task.get(), wanted) for task, wanted in tasks]
    except BaseException:
        for task, _ in tasks:
            with suppress(BaseException):
                task.get()
        raise
    done = 0
    for count, wanted in counts:
        done += count
        if count < wanted:
            break
    return done


def _task_size() -> int:
    defaults = import_module("kvikio.defaults")
    # Older ones have a function for each setting.
    found = defaults.task_size() if hasattr(defaults, "task_size") else defaults.get("task_size")
    return int(found)


def _parts(
    buffer: _native.CudaBuffer, progress: Report | None
) -> Iterator[tuple[_native.CudaBuffer, int]]:
    """The parts to copy one after the other, and where they begin; tells `progress` of each."""
    # KvikIO's copies are in no order with the streams of the device.
    buffer.context.synchronize()
    size = buffer.size
    for at in range(0, size, _PIECE if progress else max(size, 1)):
        part = buffer.slice(at, min(_PIECE, size - at) if progress else size)
        yield part, at
        if progress:
            progress(at + part.size, size)
    if progress and not size:
        progress(0, 0)
