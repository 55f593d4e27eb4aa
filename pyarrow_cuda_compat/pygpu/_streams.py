"""Events and streams."""

from __future__ import annotations

from operator import index
from typing import Any

from .. import _native
from ._devices import current_context
from ._pointers import EventPointer, StreamPointer
from ._status import INVALID_RESOURCE_HANDLE, answer, attempt, cudaError_t, noted

__all__ = [
    "cudaEventElapsedTime",
    "cudaEventRecord",
    "cudaEventSynchronize",
    "cudaEvent_t",
    "cudaStream_t",
]

# The driver takes flags of 32 bits, and says which it does not know.
_FLAGS = 2**32 - 1


class cudaEvent_t:
    """A point in the work of a stream, created on the current device.

    `cudaEventRecord` records it.

    Parameters
    ----------
    flags : int, default 0
        The runtime's flags: 1 (``cudaEventBlockingSync``), 2 (``cudaEventDisableTiming``),
        4 (``cudaEventInterprocess``, with 2 only), or a sum of them.

    Examples
    --------
    >>> import pyarrow_cuda_compat.pygpu as gpuarray
    >>> event = gpuarray.cudaEvent_t()
    >>> event.last_status()
    <cudaError: code=0>
    >>> gpuarray.cudaEventRecord(event)
    <cudaError: code=0>
    """

    def __init__(self, flags: int = 0) -> None:
        wanted = index(flags) & _FLAGS
        self._event, self._status = answer(lambda: _native._event(current_context(), wanted), None)

    def get(self) -> EventPointer:
        """Return the event's handle, for a C function.

        Returns
        -------
        handle : pointer
            Null if the event could not be created.  It retains the event.

        Examples
        --------
        >>> import pyarrow_cuda_compat.pygpu as gpuarray
        >>> int(gpuarray.cudaEvent_t().get()) > 0
        True
        """
        return EventPointer._of(0 if self._event is None else self._event.handle, self._event)

    def last_status(self) -> cudaError_t:
        """Return the status of the event's creation.

        Returns
        -------
        status : cudaError_t

        Examples
        --------
        >>> import pyarrow_cuda_compat.pygpu as gpuarray
        >>> gpuarray.cudaEvent_t(4).last_status()  # without 2
        <cudaError: code=1>
        """
        return self._status


class cudaStream_t:
    """A queue of work that a device runs in order, created on the current device.

    It has the protocol ``__cuda_stream__``, so other libraries accept it, and so do the copies
    of `pyarrow_cuda_compat`.

    Parameters
    ----------
    flags : int, default 0
        The runtime's flags: 1 (``cudaStreamNonBlocking``) makes the stream independent of the
        default stream.

    Examples
    --------
    >>> import pyarrow_cuda_compat.pygpu as gpuarray
    >>> stream = gpuarray.cudaStream_t()
    >>> stream.last_status()
    <cudaError: code=0>
    """

    def __init__(self, flags: int = 0) -> None:
        wanted = index(flags) & _FLAGS
        made = answer(lambda: _native._stream(current_context(), wanted), None)
        self._stream, self._status = made

    def get(self) -> StreamPointer:
        """Return the stream's handle, for a C function.

        Returns
        -------
        handle : pointer
            Null if the stream could not be created.  It retains the stream.

        Examples
        --------
        >>> import pyarrow_cuda_compat.pygpu as gpuarray
        >>> int(gpuarray.cudaStream_t().get()) > 0
        True
        """
        return StreamPointer._of(0 if self._stream is None else self._stream.handle, self._stream)

    def last_status(self) -> cudaError_t:
        """Return the status of the stream's creation.

        Returns
        -------
        status : cudaError_t

        Examples
        --------
        >>> import pyarrow_cuda_compat.pygpu as gpuarray
        >>> gpuarray.cudaStream_t(7).last_status()
        <cudaError: code=1>
        """
        return self._status

    def __cuda_stream__(self) -> tuple[int, int]:
        if self._stream is None:
            raise ValueError(f"the stream could not be created: {self._status}")
        return self._stream.__cuda_stream__()


def cudaEventRecord(event: cudaEvent_t, stream: Any = None) -> cudaError_t:
    """Record all work queued on a stream so far.

    Parameters
    ----------
    event : cudaEvent_t
        Its earlier record is overwritten.
    stream : cudaStream_t or object with ``__cuda_stream__``, optional
        A stream of the event's device; the default stream if not given.

    Returns
    -------
    status : cudaError_t
        ``cudaErrorInvalidResourceHandle`` (400) if the stream is of another device, or if one
        of both could not be created.

    Examples
    --------
    >>> import pyarrow_cuda_compat.pygpu as gpuarray
    >>> event, stream = gpuarray.cudaEvent_t(), gpuarray.cudaStream_t()
    >>> gpuarray.cudaEventRecord(event, stream)
    <cudaError: code=0>
    """
    recorded = _event_of(event)
    queue = stream._stream if isinstance(stream, cudaStream_t) else stream
    if recorded is None or (queue is None and stream is not None):
        return noted(INVALID_RESOURCE_HANDLE)
    try:
        return attempt(lambda: recorded.record(queue))
    except ValueError:
        return noted(INVALID_RESOURCE_HANDLE)


def cudaEventSynchronize(event: cudaEvent_t) -> cudaError_t:
    """Wait until the work before an event is complete.

    Parameters
    ----------
    event : cudaEvent_t
        The event; one that was never recorded is not waited for.

    Returns
    -------
    status : cudaError_t
        The failure of earlier work, if any has failed.

    Examples
    --------
    >>> import pyarrow_cuda_compat.pygpu as gpuarray
    >>> event = gpuarray.cudaEvent_t()
    >>> recorded = gpuarray.cudaEventRecord(event)
    >>> gpuarray.cudaEventSynchronize(event)
    <cudaError: code=0>
    """
    recorded = _event_of(event)
    if recorded is None:
        return noted(INVALID_RESOURCE_HANDLE)
    return attempt(recorded.synchronize)


def cudaEventElapsedTime(start: cudaEvent_t, end: cudaEvent_t) -> tuple[float, cudaError_t]:
    """Return the time between two events.

    Parameters
    ----------
    start, end : cudaEvent_t
        Both must be recorded and complete.

    Returns
    -------
    elapsed : float
        In milliseconds; not a number on failure.
    status : cudaError_t
        ``cudaErrorInvalidResourceHandle`` (400) if one of them was never recorded, or does not
        record time; ``cudaErrorNotReady`` (600) if one of them is not complete.

    Examples
    --------
    >>> import pyarrow_cuda_compat.pygpu as gpuarray
    >>> start, end = gpuarray.cudaEvent_t(), gpuarray.cudaEvent_t()
    >>> statuses = [gpuarray.cudaEventRecord(event) for event in (start, end)]
    >>> gpuarray.cudaEventSynchronize(end)
    <cudaError: code=0>
    >>> elapsed, status = gpuarray.cudaEventElapsedTime(start, end)
    >>> elapsed >= 0, status
    (True, <cudaError: code=0>)
    """
    first, second = _event_of(start), _event_of(end)
    if first is not None and second is not None:
        try:
            return answer(lambda: first.elapsed_time(second), float("nan"))
        except ValueError:
            pass  # of different devices, without time, or never recorded
    return float("nan"), noted(INVALID_RESOURCE_HANDLE)


def _event_of(event: cudaEvent_t) -> _native.Event | None:
    if not isinstance(event, cudaEvent_t):
        raise TypeError(f"expected a cudaEvent_t, got {type(event).__name__}")
    return event._event
