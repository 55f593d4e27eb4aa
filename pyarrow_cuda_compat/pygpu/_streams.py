"""Events and streams."""

from collections.abc import Callable
from operator import index
from typing import Any

from .. import _native
from ._devices import current_context
from ._pointers import EventPointer, Pointer, StreamPointer
from ._status import INVALID_RESOURCE_HANDLE, WithStatus, answer, attempt, cudaError_t, noted

__all__ = [
    "cudaEventElapsedTime",
    "cudaEventRecord",
    "cudaEventSynchronize",
    "cudaEvent_t",
    "cudaStream_t",
]

# The driver takes flags of 32 bits, and says which it does not know.
_FLAGS = 2**32 - 1


class _WithHandle(WithStatus):
    """An event or a stream of the current device, or none if it could not be created."""

    # The function that makes it, and the class of the pointer to it.
    _kind: tuple[Callable[[_native.Context, int], Any], type[Pointer]]

    def __init__(self, flags: int = 0) -> None:
        wanted = index(flags) & _FLAGS
        self._object, self._status = answer(lambda: self._kind[0](current_context(), wanted), None)

    def get(self) -> Pointer:
        """Return the handle, for a C function.  The pointer retains the object, and is null if that
        could not be created.  As PyGPU's `cudaStream_t.get`.
        """
        made = self._object
        return self._kind[1]._of(0 if made is None else made.handle, made)


class cudaEvent_t(_WithHandle):
    """A point in the work of a stream, created on the current device; `cudaEventRecord` records it.
    `flags` are the runtime's: 1 (``cudaEventBlockingSync``), 2 (``cudaEventDisableTiming``), 4
    (``cudaEventInterprocess``, with 2 only), or a sum of them.  As CUDA's `cudaEvent_t`.
    """

    _kind = (_native._event, EventPointer)


class cudaStream_t(_WithHandle):
    """A queue of work that a device runs in order, created on the current device.  It has the
    protocol ``__cuda_stream__``, so other libraries accept it, and so do the copies of
    `pyarrow_cuda_compat`.  The flag 1 (``cudaStreamNonBlocking``) makes it independent of the
    default stream.  As CUDA's `cudaStream_t`.
    """

    _kind = (_native._stream, StreamPointer)

    def __cuda_stream__(self) -> tuple[int, int]:
        if self._object is None:
            raise ValueError(f"the stream could not be created: {self._status}")
        handle: tuple[int, int] = self._object.__cuda_stream__()
        return handle


def cudaEventRecord(event: cudaEvent_t, stream: Any = None) -> cudaError_t:
    """Record in an event all work queued so far on a stream, or on the default stream.  Any object
    with ``__cuda_stream__`` is a stream.  The status is ``cudaErrorInvalidResourceHandle`` (400) if
    it is of another device, or if one of both could not be created.  As CUDA's `cudaEventRecord`.
    """
    recorded = _event_of(event)
    queue = stream._object if isinstance(stream, cudaStream_t) else stream
    if recorded is None or (queue is None and stream is not None):
        return noted(INVALID_RESOURCE_HANDLE)
    try:
        return attempt(lambda: recorded.record(queue))
    except ValueError:
        return noted(INVALID_RESOURCE_HANDLE)


def cudaEventSynchronize(event: cudaEvent_t) -> cudaError_t:
    """Wait until the work before an event is complete; one that was never recorded is not waited
    for.  The status is the failure of earlier work, if any has failed.  As CUDA's
    `cudaEventSynchronize`.
    """
    recorded = _event_of(event)
    if recorded is None:
        return noted(INVALID_RESOURCE_HANDLE)
    return attempt(recorded.synchronize)


def cudaEventElapsedTime(start: cudaEvent_t, end: cudaEvent_t) -> tuple[float, cudaError_t]:
    """Return the time between two events in milliseconds, not a number on failure, and a status.
    The status is ``cudaErrorInvalidResourceHandle`` (400) if one of them was never recorded, or
    does not record time.  It is ``cudaErrorNotReady`` (600) if one of them is not complete.  As
    CUDA's `cudaEventElapsedTime`.
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
    made: _native.Event | None = event._object
    return made
