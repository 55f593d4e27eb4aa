"""Has another process decode Parquet files, and copies its tables: see `worker`.

There is one such process for each device.  It starts with the first file, which takes a second or
two, and ends after a minute without requests, or with this process.
"""

from __future__ import annotations

import atexit
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from typing import Any

import pyarrow as pa
import pylibcudf as plc  # type: ignore[import-not-found,unused-ignore]

from ... import _native
from ..refusals import RefusedByLibrary, need
from ..spans import Span
from .messages import Packed, Refused, Request

_WORKER = f"{__package__}.worker"
#: Seconds that a process may take to start.
_START = 60


class _Lost(Exception):
    """The other process has ended."""


def _folders() -> str:
    """Where this process imports from, for another one to import from there."""
    return os.pathsep.join(it for it in sys.path if it and isinstance(it, str))


def _settings() -> dict[str, str]:
    """Of libcudf, unless the program has chosen others: threads beyond the four that it has, and
    few pages are decompressed on the host, sooner than on the device."""
    threads = str(min(os.cpu_count() or 1, 16))
    return {
        "KVIKIO_NTHREADS": threads,
        "LIBCUDF_NUM_HOST_WORKERS": threads,
        "LIBCUDF_HOST_DECOMPRESSION": "HYBRID",
    }


def _nothing() -> None:
    pass


class _Process:
    """The process that decodes for a device."""

    def __init__(self, device: int) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            self._connection = Connection(ours.detach())
            # -P: the folder of the program is not where modules are looked for.
            command = [sys.executable, "-P", "-m", _WORKER, str(theirs.fileno())]
            self._process = subprocess.Popen(
                [*command, str(device)],
                pass_fds=[theirs.fileno()],
                env={**_settings(), **os.environ, "PYTHONPATH": _folders()},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,  # an interrupt is for this process
            )

    def is_ready_for(self, device: int) -> bool:
        """Whether it has started, and has the same device by that number."""
        with suppress(_Lost):
            return bool(self._received(_START) == _native._uuid(device))
        return False

    def _received(self, seconds: float | None = None) -> Any:
        with suppress(EOFError, OSError):
            if self._connection.poll(seconds):
                return self._connection.recv()
        raise _Lost

    def answer(self, request: Request, meanwhile: Callable[[], object] = _nothing) -> Any:
        with suppress(OSError):
            self._connection.send(request)
            meanwhile()
            return self._received()
        raise _Lost

    def has_ended(self) -> bool:
        return self._process.poll() is not None

    def has_been_copied(self) -> None:
        with suppress(OSError):
            self._connection.send(None)

    def end(self) -> None:
        self._connection.close()
        self._process.kill()
        self._process.wait()


#: Held while a process is asked.
_lock = threading.RLock()
_is_asked = False
#: By the number of the device, and of this process: a fork starts another.  None where it cannot
#: start.
_processes: dict[tuple[int, int], _Process | None] = {}


@contextmanager
def _alone() -> Iterator[None]:
    """Holds the lock.

    Raises
    ------
    RefusedByLibrary
        If this thread has it: a finalizer, or a handler of a signal, reads a file.
    """
    global _is_asked
    with _lock:
        if _is_asked:
            raise RefusedByLibrary("this thread waits for the answer to another call")
        try:
            _is_asked = True
            yield
        finally:
            _is_asked = False


def unpacked(request: Request, meanwhile: Callable[[], object]) -> Any:
    """libcudf's table of what it has decoded, over one allocation.

    `meanwhile` is called while the other process decodes, which ends if it raises an error.

    Raises
    ------
    RefusedByLibrary
        If libcudf raises an error, or its process ends.
    MemoryError
        If the device has too little memory for it.
    """
    context = _native._here()
    key = context.device_number, os.getpid()
    with _alone():
        process = _process_of(key)
        try:
            answer = process.answer(request, meanwhile)
            if isinstance(answer, Refused) and answer.is_of_memory:
                _native.empty_cache(context)  # which this process keeps from the other one
                answer = process.answer(request)
            if isinstance(answer, Packed):
                span = _copied(context, answer)
                process.has_been_copied()
                metadata = memoryview(answer.metadata)
                return plc.contiguous_split.unpack_from_memoryviews(metadata, span)
        except BaseException as error:  # which leaves its answer unread
            process.end()
            _processes.pop(key, None)  # unless this process ends as well
            if isinstance(error, _Lost | OSError) and not isinstance(error, MemoryError):
                raise RefusedByLibrary(f"its process has ended: {error}") from error
            raise
    assert isinstance(answer, Refused)
    if answer.is_of_memory:
        raise MemoryError(answer.text)
    raise RefusedByLibrary(answer.text)


def _started(device: int) -> _Process | None:
    need(not hasattr(sys, "frozen"), "not in a frozen program, which is no interpreter")
    try:
        made = _Process(device)
    except (OSError, TypeError, ValueError) as error:  # no memory for it, or no such program
        raise RefusedByLibrary(f"no process of it can start here: {error}") from error
    is_ready = False
    try:
        is_ready = made.is_ready_for(device)
    finally:  # also after an interrupt
        if not is_ready:
            made.end()
    return made if is_ready else None


def _process_of(key: tuple[int, int]) -> _Process:
    found = _processes.get(key)
    if found is not None and found.has_ended():
        found.end()
        del _processes[key]
    if key not in _processes:
        _processes[key] = _started(key[0])
    found = _processes[key]
    if found is None:
        raise RefusedByLibrary("no process of it can start here, or that sees other devices")
    return found


def _copied(context: _native.Context, answer: Packed) -> Span:
    """A copy of the table's memory."""
    if not answer.size:
        return Span(0, 0, None)
    handle = _native.IpcMemHandle.from_buffer(pa.py_buffer(answer.handle))
    theirs = context.open_ipc_buffer(handle)
    copy = context.new_buffer(answer.size)
    copy.copy_from_device(theirs)
    context.synchronize()
    return Span(copy.address, copy.size, copy)


@atexit.register
def _end() -> None:
    for (_, process), it in list(_processes.items()):
        if it is not None and process == os.getpid():
            it.end()
    _processes.clear()
