"""Has another process decode Parquet files, and copies its tables: see `parquet_worker`.

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
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any

import pyarrow as pa

from .. import _native
from . import parquet_worker
from .parquet_worker import Packed, Refused, Request
from .refusals import RefusedByLibrary

#: Seconds that a process may take to start.
_START = 60


class _Lost(Exception):
    """The other process has ended."""


class _Process:
    """The process that decodes for a device."""

    def __init__(self, device: int) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            command = [sys.executable, "-m", parquet_worker.__name__, str(theirs.fileno())]
            self._process = subprocess.Popen(
                [*command, str(device)],
                pass_fds=[theirs.fileno()],
                # What this process can import, it can as well.
                env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,  # an interrupt is for this process
            )
        self._connection = Connection(ours.detach())
        self.is_same_device = self._received(_START) == _native._uuid(device)

    def _received(self, seconds: float | None = None) -> Any:
        with suppress(EOFError, OSError):
            if self._connection.poll(seconds):
                return self._connection.recv()
        raise _Lost

    def answer(self, request: Request) -> Any:
        with suppress(OSError):
            self._connection.send(request)
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


#: Held while a process answers.
_lock = threading.Lock()
#: By the number of the device, and of this process: a fork has none.
_processes: dict[tuple[int, int], _Process] = {}


def packed(context: _native.Context, request: Request) -> tuple[bytes, _native.CudaBuffer | None]:
    """What libcudf has decoded: how to unpack it, and its memory.

    Raises
    ------
    RefusedByLibrary
        If libcudf raises an error, or its process ends.
    MemoryError
        If the device has too little memory for it.
    """
    key = context.device_number, os.getpid()
    with _lock:
        try:
            process = _process_of(key)
            answer = process.answer(request)
            if isinstance(answer, Packed):
                copy = _copied(context, answer)
                process.has_been_copied()
                return answer.metadata, copy
        except BaseException as error:  # an interrupt leaves its answer unread
            if key in _processes:
                _processes.pop(key).end()
            if isinstance(error, _Lost | OSError) and not isinstance(error, MemoryError):
                raise RefusedByLibrary("its process has ended") from error
            raise
    assert isinstance(answer, Refused)
    if answer.is_of_memory:
        raise MemoryError(answer.text)
    raise RefusedByLibrary(answer.text)


def _process_of(key: tuple[int, int]) -> _Process:
    found = _processes.get(key)
    if found is not None and found.has_ended():
        _processes.pop(key).end()
        found = None
    if found is None:
        found = _processes[key] = _Process(key[0])
    if not found.is_same_device:
        raise RefusedByLibrary("another process sees other devices")
    return found


def _copied(context: _native.Context, answer: Packed) -> _native.CudaBuffer | None:
    if not answer.size:
        return None
    handle = _native.IpcMemHandle.from_buffer(pa.py_buffer(answer.handle))
    theirs = context.open_ipc_buffer(handle)
    copy = context.new_buffer(answer.size)
    copy.copy_from_device(theirs)
    context.synchronize()
    return copy


@atexit.register
def _end() -> None:
    for (_, process), it in _processes.items():
        if process == os.getpid():
            it.end()
    _processes.clear()
