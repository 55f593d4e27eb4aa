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
    """A queue of work on the device, as `stream` and the functions beside it return it.

    Numba's kernels take it (``kernel[grid, block, stream]``), and so does everything that has a
    parameter `stream` here or in a library that asks for ``__cuda_stream__``.

    Examples
    --------
    >>> stream = memory.stream()
    >>> with stream.auto_synchronize():
    ...     array = memory.to_device(np.arange(3), stream=stream)
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
        """Wait until all work queued so far is complete.

        Raises
        ------
        OSError
            If queued work has failed.

        Examples
        --------
        >>> memory.stream().synchronize()
        """
        if self._owner is not None:
            self._owner.synchronize()
            return
        event = Event(self._context)
        event.record(self)
        event.synchronize()

    @contextmanager
    def auto_synchronize(self) -> Iterator[Stream]:
        """Wait for the stream at the end of a ``with`` block, also when the block raises.

        Yields
        ------
        Stream
            The stream itself.

        Examples
        --------
        >>> with memory.stream().auto_synchronize() as stream:
        ...     array = memory.to_device(np.arange(3), stream=stream)
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
    """Make a stream.

    It is ordered with the legacy default stream: each begins work only when the work queued earlier
    on the other is complete.

    Returns
    -------
    Stream

    Examples
    --------
    >>> memory.stream().synchronize()
    """
    context = current_context()
    made = _native.Stream(context)
    return Stream(made.handle, context, owner=made)


def default_stream() -> Stream:
    """Return the default stream: the legacy one, as for all functions here.

    Returns
    -------
    Stream

    Examples
    --------
    >>> memory.default_stream()
    <pyarrow_cuda_compat.memory.Stream default>
    """
    return Stream(_DEFAULT, current_context())


def legacy_default_stream() -> Stream:
    """Return the legacy default stream, which waits for the work of other streams.

    Returns
    -------
    Stream

    Examples
    --------
    >>> int(memory.legacy_default_stream())
    1
    """
    return Stream(_LEGACY, current_context())


def per_thread_default_stream() -> Stream:
    """Return the default stream of the calling thread.

    Returns
    -------
    Stream

    Examples
    --------
    >>> int(memory.per_thread_default_stream())
    2
    """
    return Stream(_PER_THREAD, current_context())


def external_stream(ptr: int) -> Stream:
    """Pass on a stream that another library has made.

    Parameters
    ----------
    ptr : int
        Its ``CUstream`` handle.  The stream has to exist as long as the result is used: drivers
        crash on the handle of one that is gone.

    Returns
    -------
    Stream
        It does not own the stream.

    Examples
    --------
    >>> from pyarrow_cuda_compat import Stream, memory
    >>> theirs = Stream()
    >>> memory.external_stream(theirs.handle).synchronize()
    """
    return Stream(ptr, current_context(), external=True)


def event(timing: bool = True) -> Event:
    """Make an event.

    Parameters
    ----------
    timing : bool, default True
        Whether it records the time when it is reached.

    Returns
    -------
    Event
        With ``record(stream=0)``, ``wait(stream=0)``, ``query()``, ``synchronize()`` and
        ``elapsed_time(end)``.

    Examples
    --------
    >>> event = memory.event()
    >>> event.record(stream=memory.stream())
    >>> event.synchronize()
    """
    return Event(current_context(), timing=timing)


def event_elapsed_time(evtstart: Any, evtend: Any) -> float:
    """Return the time between two events, in milliseconds.

    Parameters
    ----------
    evtstart, evtend : Event
        Events with timing that are complete.

    Returns
    -------
    float

    Raises
    ------
    ValueError
        If one of them has no timing, or was never recorded.
    OSError
        If one of them is not complete yet.

    Examples
    --------
    >>> start, end = memory.event(), memory.event()
    >>> start.record(), end.record(), end.synchronize()
    (None, None, None)
    >>> memory.event_elapsed_time(start, end) >= 0
    True
    """
    return float(evtstart.elapsed_time(evtend))
