"""Streams and events."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from .. import _native
from .._methods.numba.kernels import PACKAGES, rebase
from .._native import Context, Event
from .._start.import_hooks import follow
from ._current_device import current_context

_DEFAULT, _LEGACY, _PER_THREAD = range(3)
_DEFAULT_NAMES = dict(enumerate(("default", "legacy default", "per-thread default")))


class _Handle(int):
    """A handle, which numba-cuda 0.27 reads by `value`, and later versions as an integer."""

    @property
    def value(self) -> int:
        return int(self)


class _NumbaStream:
    """Holds Numba's place among the bases of `Stream` until Numba is imported."""


class Stream(_NumbaStream):
    """A queue of work on the device, as `stream` and the functions beside it return it.  Numba's
    kernels take it (``kernel[grid, block, stream]``).  So does everything that has a parameter
    `stream` here or in a library that asks for ``__cuda_stream__``.  As
    `numba.cuda.cudadrv.driver.Stream`.
    """

    def __init__(
        self,
        handle: int,
        context: Context,
        *,
        owner: _native.Stream | None = None,
        external: bool = False,
    ) -> None:
        self.handle = _Handle(handle)
        self.external = external
        self._context = context
        self._owner = owner

    def __int__(self) -> int:
        return int(self.handle)

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, int(self.handle)

    def __repr__(self) -> str:
        number = int(self.handle)
        kind = _DEFAULT_NAMES.get(number) or f"external {number:#x}" * self.external
        return f"<pyarrow_cuda_compat.memory.Stream {kind or f'{number:#x}'}>"

    def synchronize(self) -> None:
        """Wait until all work queued so far is complete.  It raises an `OSError` if queued work has
        failed.  As `numba.cuda.cudadrv.driver.Stream.synchronize`.
        """
        if self._owner is not None:
            self._owner.synchronize()
            return
        event = Event(self._context)
        event.record(self)
        event.synchronize()

    @contextmanager
    def auto_synchronize(self) -> Iterator[Stream]:
        """Wait for the stream at the end of a ``with`` block, also when the block raises.  The
        block gets the stream itself.  As `numba.cuda.cudadrv.driver.Stream.auto_synchronize`.
        """
        try:
            yield self
        finally:
            self.synchronize()


def _be_numbas(package: str) -> None:
    rebase(Stream, _NumbaStream, import_module(f"{package}.cudadrv.driver").Stream)


for _package in PACKAGES:
    follow(_package, __name__, _be_numbas.__name__)


def stream() -> Stream:
    """Make a stream.  It is ordered with the legacy default stream: each begins work only when the
    work queued earlier on the other is complete.  As `numba.cuda.stream`.
    """
    context = current_context()
    made = _native.Stream(context)
    return Stream(made.handle, context, owner=made)


def default_stream() -> Stream:
    """Return the default stream: the legacy one, as for all functions here.  As
    `numba.cuda.default_stream`.
    """
    return Stream(_DEFAULT, current_context())


def legacy_default_stream() -> Stream:
    """Return the legacy default stream, which waits for the work of other streams.  As
    `numba.cuda.legacy_default_stream`.
    """
    return Stream(_LEGACY, current_context())


def per_thread_default_stream() -> Stream:
    """Return the default stream of the calling thread.
    As `numba.cuda.per_thread_default_stream`."""
    return Stream(_PER_THREAD, current_context())


def external_stream(ptr: int) -> Stream:
    """Pass on a stream that another library has made, by its ``CUstream`` handle.  The result does
    not own the stream, which has to exist as long as the result is used.  Drivers crash on the
    handle of one that is gone.  As `numba.cuda.external_stream`.
    """
    return Stream(ptr, current_context(), external=True)


def event(timing: bool = True) -> Event:
    """Make an event of this package, which records the time when it is reached if `timing` is true.
    It has ``record(stream=0)``, ``wait(stream=0)``, ``query()``, ``synchronize()`` and
    ``elapsed_time(end)``.  As `numba.cuda.event`.
    """
    return Event(current_context(), timing=timing)


def event_elapsed_time(evtstart: Any, evtend: Any) -> float:
    """Return the time between two complete events, in milliseconds.  It raises a `ValueError` if
    one has no timing, or was never recorded.  It raises an `OSError` if one is not complete yet.
    As `numba.cuda.event_elapsed_time`.
    """
    return float(evtstart.elapsed_time(evtend))
