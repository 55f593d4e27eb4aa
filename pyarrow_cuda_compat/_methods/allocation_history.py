"""`record_allocations`: what was allocated and released on devices, for viewers."""

from __future__ import annotations

import os  # not pathlib: pyarrow does without it, and importing it takes milliseconds
import pickle
import sys
import traceback
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NoReturn, TypeAlias

import pyarrow as pa

from .. import _native
from .._start.extension import FOLDER, PACKAGE
from .memory_segments import Segment, memory_segments

#: The folders of this package and of pyarrow: holders of memory are in other ones.
_LIBRARIES = tuple(f"{folder}{os.sep}" for folder in (FOLDER, os.path.dirname(pa.__file__)))  # noqa: PTH120

# Action, device, address, bytes, time, and the calls as text.
_Facts: TypeAlias = tuple[str, int, int, int, float, str | None]

# PyTorch's names.
_ACTIONS = {
    "allocate": ("alloc",),
    "release": ("free_requested", "free_completed"),
    "allocate segment": ("segment_alloc",),
    "free segment": ("segment_free",),
}
_STATES = {
    "in use": "active_allocated",
    "shared": "active_allocated",
    "in flight": "active_pending_free",
    "free": "inactive",
}


@dataclass(frozen=True)
class AllocationEvent:
    """An event of an `AllocationHistory`.

    Attributes
    ----------
    action : str
        ``"allocate"`` or ``"release"`` of a block, or ``"allocate segment"`` or ``"free segment"``:
        memory that the driver has allocated for several blocks, or gets back.
    device : int
    address : int
    nbytes : int
        The bytes that were asked for, or all bytes of a segment.
    time : float
        In seconds since 1970, as `time.time`.
    stack : traceback.StackSummary
        Where the program has allocated the block, also for its release; empty if that is unknown.
    """

    action: str
    device: int
    address: int
    nbytes: int
    time: float
    stack: traceback.StackSummary


class AllocationHistory:
    """What `record_allocations` returns: the events so far, or until `stop`.

    A ``with`` block ends with `stop`; so does the life of the object.
    """

    def __init__(self, max_events: int) -> None:
        self._is_on = False
        self._events: list[_Facts] = []
        self._segments: list[Segment] = []
        if not _native._start_memory_history(max_events):
            raise RuntimeError(
                "record_allocations records already; end that with stop() of the history that it "
                "has returned"
            )
        self._is_on = True

    def __enter__(self) -> AllocationHistory:
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()

    def __del__(self) -> None:
        # A forked child has no record that could end.
        with suppress(OSError):
            self.stop()

    def __reduce__(self) -> NoReturn:
        # The end of a copy would end the record.
        raise TypeError(
            "an AllocationHistory cannot be copied or pickled: history.events can, and "
            "history.save(path) writes them to a file"
        )

    def __repr__(self) -> str:
        state = "recording" if self._is_on else "complete"
        return f"<AllocationHistory: {len(self._facts()):,} events, {state}>"

    def _facts(self) -> list[_Facts]:
        return _native._memory_history() if self._is_on else self._events

    def stop(self) -> None:
        """End the record.  The events stay here.

        Nothing happens if it has ended.
        """
        if self._is_on:
            self._is_on = False
            # Before the end, with which blocks lose their stacks.
            self._segments = memory_segments()
            self._events = _native._stop_memory_history()

    @property
    def events(self) -> list[AllocationEvent]:
        """The events, the oldest first."""
        events = self._facts()
        stacks = {origin: stack_of(origin) for origin in {facts[5] for facts in events}}
        return [AllocationEvent(*facts[:5], stacks[facts[5]]) for facts in events]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the history in the format of PyTorch's memory snapshots.

        ``https://pytorch.org/memory_viz`` shows the file: drop it there; it is not uploaded.
        So does PyTorch's own ``python -m torch.cuda._memory_viz trace_plot FILE -o PAGE``.

        Parameters
        ----------
        path : str or path-like
            The file, which is replaced.  Its name should end with ``.pickle``.

        Notes
        -----
        The file has the memory of all devices, with all that was allocated before.
        """
        segments = memory_segments() if self._is_on else self._segments
        snapshot = _snapshot(self._facts(), segments)
        with open(path, "wb") as file:  # noqa: PTH123
            # The viewer reads no later protocol.
            pickle.dump(snapshot, file, protocol=4)


def record_allocations(max_events: int = 100_000) -> AllocationHistory:
    """Record what this package allocates and releases on devices, and where in the program.

    This finds what holds memory at a peak.  While it records, `memory_report` names the lines of
    the program that hold memory.  An allocation then takes about 1 us longer for each call on the
    stack.  Until then, nothing is recorded, and costs nothing.

    Parameters
    ----------
    max_events : int
        How many events are retained, the last ones; each takes about 100 bytes.

    Returns
    -------
    AllocationHistory
        Use it in a ``with`` block, or call its ``stop()``.  Its ``events`` have ``action``,
        ``device``, ``address``, ``nbytes``, ``time`` and ``stack``, which is a
        `traceback.StackSummary`.  Its ``save(path)`` writes a file for PyTorch's viewer of memory,
        ``https://pytorch.org/memory_viz``.

    Raises
    ------
    RuntimeError
        If allocations are recorded already.
    TypeError
        If `max_events` is no integer.
    ValueError
        If `max_events` is not positive.

    Notes
    -----
    Memory of allocators that `set_allocator` has set is not recorded, nor is pinned memory.
    Threads that Python does not know have no stack.  Of a stack, the innermost 64 calls are kept.

    Examples
    --------
    >>> with record_allocations() as history:
    ...     buf = ctx.new_buffer(1000)
    >>> [(event.action, event.nbytes) for event in history.events][-1]
    ('allocate', 1000)
    >>> history.save("/tmp/memory.pickle")  # for https://pytorch.org/memory_viz
    """
    if isinstance(max_events, bool) or not hasattr(max_events, "__index__"):
        raise TypeError(f"max_events argument must be an int, not {type(max_events).__name__}")
    if max_events < 1:
        raise ValueError(f"max_events argument must be at least 1, not {max_events}")
    return AllocationHistory(min(max_events, sys.maxsize))


record_allocations.__module__ = PACKAGE


def stack_of(origin: str | None) -> traceback.StackSummary:
    """The calls that the extension has noted, the last one at the end, as in tracebacks."""
    parts = iter((origin or "").split("\0")[:-1])
    calls = [(file, int(line), name, None) for file, line, name in zip(parts, parts, parts)]  # noqa: B905
    return traceback.StackSummary.from_list(calls[::-1])


def place_of(origin: str | None) -> str:
    """The line of the program that is behind an allocation."""
    stack = stack_of(origin)
    own = [call for call in stack if not call.filename.startswith(_LIBRARIES)]
    for call in (own or stack)[-1:]:
        return f"{call.filename}:{call.lineno} in {call.name}"
    return "unknown"


def _snapshot(events: list[_Facts], segments: list[Segment]) -> dict[str, Any]:
    """The dictionaries that PyTorch documents at its memory snapshots."""
    on_devices = [segment for segment in segments if not segment.is_on_host]
    origins = {facts[5] for facts in events}
    origins |= {block.origin for segment in on_devices for block in segment.blocks}
    # One list for each stack: pickle writes it once.
    frames = {origin: _frames(origin) for origin in origins}
    traces: list[list[Any]] = [[] for _ in range(_native.Context.get_num_devices())]
    for action, device, address, nbytes, time, origin in events:
        entry = {
            "addr": address,
            "size": nbytes,
            "stream": 0,
            "time_us": int(1e6 * time),
            "frames": frames[origin],
        }
        traces[device] += ({"action": name, **entry} for name in _ACTIONS[action])
    return {
        "segments": [_segment(segment, frames) for segment in on_devices],
        "device_traces": traces,
        "allocator_settings": {},
    }


def _frames(origin: str | None) -> list[dict[str, Any]]:
    return [
        {"filename": call.filename, "line": call.lineno, "name": call.name}
        for call in reversed(stack_of(origin))
    ]


def _segment(segment: Segment, frames: dict[str | None, list[dict[str, Any]]]) -> dict[str, Any]:
    in_use = [block for block in segment.blocks if block.is_in_use]
    in_flight = [block for block in segment.blocks if block.state == "in flight"]
    return {
        "device": segment.device,
        "address": segment.address,
        "total_size": segment.nbytes,
        "allocated_size": sum(block.nbytes for block in in_use),
        "active_size": sum(block.nbytes for block in in_use + in_flight),
        "requested_size": sum(block.requested for block in in_use),
        "stream": 0,
        "segment_type": "large" if segment.size_class == "large" else "small",
        "segment_pool_id": (0, 0),
        "is_expandable": False,
        "frames": [],
        "blocks": [
            {
                "address": block.address,
                "size": block.nbytes,
                "requested_size": block.requested,
                "state": _STATES[block.state],
                "frames": frames[block.origin],
            }
            for block in segment.blocks
        ],
    }
