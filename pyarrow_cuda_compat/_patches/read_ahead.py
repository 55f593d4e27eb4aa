"""Readers of copies: a thread reads batches ahead, which are copied in groups.

Reading a batch from a file, a network or a generator takes longer than copying it.  So a thread
reads on while batches are copied and used.  Each copy has a fixed cost, which exceeds the time for
the bytes of a small batch.  So the batches that were read meanwhile are copied together.

The thread starts with the first request for a batch.  It ends when its source ends, when the reader
of the copies is closed or destroyed, or when the process exits.
"""

from __future__ import annotations

import atexit
import operator
import os
import threading
import weakref
from collections import deque
from collections.abc import Callable
from typing import Any

import pyarrow as pa

from .. import _native
from .._progress import Progress, Report, end, report_of
from .patching import override

#: Seconds to wait for the batch that a thread reads, when its reader or the process ends.
_PATIENCE = 1.0
#: Bytes to read ahead: more are no other number.
_MOST = (1 << 63) - 1


class _Copies:
    """Copies of the batches of a reader, in their order."""

    def __init__(
        self, reader: Any, destination: Any, stream: Any, nbytes: int, report: Report | None
    ) -> None:
        self._ahead = _native._read_ahead(reader, nbytes, destination, stream is not None)
        self._thread: threading.Thread | None = None
        if nbytes:
            self._thread = threading.Thread(target=_run, args=(self._ahead,), daemon=True)
        self._process = os.getpid()
        self._destination, self._stream, self._report = destination, stream, report
        self._lock = threading.RLock()  # `report` may ask for batches
        self._copied: deque[Any] = deque()
        self._has_copied = True  # the batches that were taken last
        self._nbytes = 0
        weakref.finalize(self, _close, self._ahead, self._process).atexit = False

    def __iter__(self) -> _Copies:
        return self

    def __next__(self) -> Any:
        with self._lock:
            while not self._copied:
                self._copy_group()
            return self._copied.popleft()

    def close(self) -> None:
        """Has the thread end once it has read its batch, and waits a moment for that."""
        self._copied.clear()
        end(self._report)
        _close(self._ahead, self._process)
        if self._thread is not None and self._thread.is_alive():
            self._thread.join(_PATIENCE)

    def _copy_group(self) -> None:
        self._begin()
        has_copied, self._has_copied = self._has_copied, False
        copies, _, nbytes, are_last = _native._copy_ahead(
            self._ahead, self._destination, self._stream, has_copied
        )
        # An interrupt comes before or after these two, which are one.
        copied = deque(copies)
        self._copied, self._has_copied = copied, True
        self._nbytes += nbytes
        if copies and self._report is not None:
            self._report(self._nbytes, None)
        if are_last and not copies:
            end(self._report)
            self._ahead.read_next_batch()  # ends or fails as the reader has done

    def _begin(self) -> None:
        if self._thread is None:
            return
        if self._process != os.getpid():
            raise RuntimeError(
                "a thread of the parent process reads these batches: open the reader after the fork"
            )
        if self._thread.ident is None:
            self._thread.start()


#: The threads that read, which may go on when nobody has the copies any more, and their readers.
_RUNNING: dict[threading.Thread, Any] = {}

#: The iterator behind each reader of copies.
_COPIES: weakref.WeakKeyDictionary[Any, _Copies] = weakref.WeakKeyDictionary()


def _run(ahead: Any) -> None:
    _RUNNING[threading.current_thread()] = ahead
    try:
        _native._run_ahead(ahead)
    finally:
        del _RUNNING[threading.current_thread()]


def _close(ahead: Any, process: int) -> None:
    # In a child, the lock may be that of a thread which the child does not have.
    if process == os.getpid():
        ahead.close()


def reader_of_copies(
    reader: Any, destination: Any, stream: Any, nbytes: int, progress: Progress
) -> Any:
    """A reader that takes the batches of another one over."""
    if (nbytes := operator.index(nbytes)) < 0:
        raise ValueError(f"'read_ahead' must not be negative: {nbytes}")
    nbytes = min(nbytes, _MOST)
    report = report_of(progress, "copy_to")
    copies = _Copies(reader, destination, stream, nbytes, report)
    # The batches know where they lie.
    original = _native._unguarded(pa.RecordBatchReader.from_batches)
    made = (original or pa.RecordBatchReader.from_batches)(reader.schema, copies)
    _COPIES[made] = copies
    return made


def _close_reader(close: Callable[..., None], reader: Any) -> None:
    if (copies := _COPIES.get(reader)) is not None:
        copies.close()
    close(reader)


def _close_all() -> None:
    """Ends the threads while Python lets them end their calls."""
    running = list(_RUNNING.items())
    for _, ahead in running:
        ahead.close()
    for thread, _ in running:
        thread.join(_PATIENCE)


def install() -> None:
    """Has `close` end the thread, and the process end all threads before Python ends."""
    override(pa.lib.RecordBatchReader, "close", _close_reader)
    atexit.register(_close_all)
    os.register_at_fork(after_in_child=_RUNNING.clear)
