"""`memory_report`: who holds memory, and in blocks of which sizes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass
from typing import Any

from .. import _native
from .._start.extension import PACKAGE
from .._start.optional import required
from . import html, texts
from .allocation_history import place_of
from .memory_segments import Segment, memory_segments

_SIZES = {"small": "up to 1 MiB", "medium": "below 16 MiB", "large": "from 16 MiB"}
_PINNED = "pinned"

# The heads of the tables.
_TOTALS = "memory", "allocated", "peak", "reserved", "peak"
_CLASSES = "memory", "sizes", "blocks", "allocated", "shared", "in flight", "reusable", "reserved"
_HOLDERS = "allocated by", "blocks", "allocated"


@dataclass(frozen=True)
class MemoryTotal:
    """A row of `MemoryReport.totals`, in bytes.

    Attributes
    ----------
    memory : str
        The device, such as ``"cuda:0"``, or ``"pinned"`` for the host memory that the process has
        pinned for all devices.
    allocated_bytes, peak_allocated_bytes, reserved_bytes, peak_reserved_bytes : int
        As in `memory_stats`.
    """

    memory: str
    allocated_bytes: int
    peak_allocated_bytes: int
    reserved_bytes: int
    peak_reserved_bytes: int


@dataclass(frozen=True)
class SizeClass:
    """A row of `MemoryReport.classes`: memory for blocks of some sizes.

    Attributes
    ----------
    memory : str
        As in `MemoryTotal`.
    sizes : str
        ``"up to 1 MiB"``, ``"below 16 MiB"`` or ``"from 16 MiB"``.
    blocks : int
        How many are in use.
    allocated_bytes : int
        The bytes that were asked for in these.
    shared_bytes : int
        The part of these that other processes may use, too.
    in_flight_bytes : int
        Released, but work in flight may still use it.
    reusable_bytes : int
        Released: the next allocation of that class can get it.
    reserved_bytes : int
        All of it, with what blocks waste.
    """

    memory: str
    sizes: str
    blocks: int
    allocated_bytes: int
    shared_bytes: int
    in_flight_bytes: int
    reusable_bytes: int
    reserved_bytes: int


@dataclass(frozen=True)
class Holder:
    """A row of `MemoryReport.holders`: a line of the program that has allocated device memory.

    Attributes
    ----------
    place : str
        ``"FILE:LINE in FUNCTION"``; ``"unknown"`` for what was allocated before the record, or by
        threads that Python does not know.
    blocks : int
        How many are in use.
    allocated_bytes : int
    """

    place: str
    blocks: int
    allocated_bytes: int


@dataclass(frozen=True, repr=False)
class MemoryReport:
    """What `memory_report` returns.  Its text, and its HTML in notebooks, are tables.

    Attributes
    ----------
    device : str
        Its name, such as ``"cuda:0"``.
    total_bytes, free_bytes : int
        Of the device, as `mem_get_info`.
    other_bytes : int
        Used there by other libraries and processes, and by the driver itself.
    totals : tuple of MemoryTotal
        Of the context's device memory, and of the pinned memory of the process.
    classes : tuple of SizeClass
        Three for each of these.
    holders : tuple of Holder
        The largest first; empty unless `record_allocations` is recording.
    """

    device: str
    total_bytes: int
    free_bytes: int
    other_bytes: int
    totals: tuple[MemoryTotal, ...]
    classes: tuple[SizeClass, ...]
    holders: tuple[Holder, ...]

    def __repr__(self) -> str:
        parts = (texts.rendered(head, [*rows]) for head, rows in self._tables())
        return "\n\n".join([self._title(), *parts])

    def _repr_html_(self) -> str:
        title, *others = (self._title(), "by size", "by line")
        tables = zip((title, *others), self._tables(), strict=False)
        return "".join(html.rendered(name, head, rows) for name, (head, rows) in tables)

    def plot(self, ax: Any = None) -> Any:
        """Draw a bar for each row of `classes`: what is in use, in flight, reusable, and wasted.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default new axes.

        Returns
        -------
        matplotlib.axes.Axes

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        if ax is None:
            pyplot = required("matplotlib.pyplot", "this needs matplotlib: pip install matplotlib")
            _, ax = pyplot.subplots(layout="constrained")
        rows = self.classes[::-1]  # the first one at the top
        names = [f"{row.memory}, {row.sizes}" for row in rows]
        parts = {
            "allocated": [row.allocated_bytes for row in rows],
            "in flight": [row.in_flight_bytes for row in rows],
            "reusable": [row.reusable_bytes for row in rows],
        }
        left = [0.0] * len(rows)
        parts["wasted"] = [
            row.reserved_bytes - sum(part)
            for row, part in zip(rows, zip(*parts.values(), strict=True), strict=True)
        ]
        for label, values in parts.items():
            widths = [nbytes / (1 << 20) for nbytes in values]
            ax.barh(names, widths, left=left, label=label)
            left = [start + width for start, width in zip(left, widths, strict=True)]
        ax.set_xlabel("MiB")
        ax.set_title(f"Memory of pyarrow_cuda_compat on {self.device}")
        ax.legend()
        return ax

    def _title(self) -> str:
        return (
            f"{self.device}: {self.total_bytes:,} bytes, of which {self.free_bytes:,} are free, "
            f"and others use {self.other_bytes:,}"
        )

    def _tables(self) -> Iterator[tuple[Sequence[str], Iterable[Sequence[str]]]]:
        yield _TOTALS, map(_texts, self.totals)
        yield _CLASSES, map(_texts, self.classes)
        if self.holders:
            yield _HOLDERS, map(_texts, self.holders)


def _texts(row: Any) -> list[str]:
    return [each if isinstance(each, str) else f"{each:,}" for each in astuple(row)]


def memory_report(context: Any = None) -> MemoryReport:
    """Tell who holds memory of a device, and in blocks of which sizes.

    The package allocates from segments, each of which has blocks of one class of sizes.  The report
    says what is in use in each class, and what is only cached.  While `record_allocations` records,
    it also names the lines of the program that hold the memory.

    Parameters
    ----------
    context : Context, int or str, optional
        The context, or a device's number or name for its primary one; by default that of device 0.

    Returns
    -------
    MemoryReport
        Its text, and its HTML in notebooks, are tables: ``totals`` with the peaks, ``classes`` and
        ``holders``.  Its ``plot(ax=None)`` draws the classes with matplotlib, which must be
        installed.

    Raises
    ------
    TypeError
        If `context` is neither.
    ValueError
        If the device does not exist.

    Notes
    -----
    Memory of allocators that `set_allocator` has set counts as that of others.

    Examples
    --------
    >>> buf = ctx.new_buffer(3 << 20)
    >>> report = memory_report(ctx)
    >>> [row.sizes for row in report.classes if row.allocated_bytes >= 3 << 20]
    ['below 16 MiB']
    >>> report.totals[0].allocated_bytes == ctx.bytes_allocated
    True
    """
    context = _native._context(0 if context is None else context)
    number = context.device_number
    device = f"cuda:{number}"
    free, total = _native.mem_get_info(context)
    segments = memory_segments()
    on_device = [each for each in segments if each.device == number and not each.is_on_host]
    ours = [each for each in on_device if each.context == context.handle]
    pinned = [each for each in segments if each.is_on_host]
    return MemoryReport(
        device=device,
        total_bytes=total,
        free_bytes=free,
        other_bytes=max(0, total - free - sum(each.nbytes for each in on_device)),
        totals=(
            _total(device, _native.memory_stats(context)),
            _total(_PINNED, _native.pinned_memory_stats()),
        ),
        classes=(*_classes(device, ours), *_classes(_PINNED, pinned)),
        holders=_holders(ours),
    )


memory_report.__module__ = PACKAGE


def _total(memory: str, stats: dict[str, int]) -> MemoryTotal:
    names = ("allocated_bytes", "peak_allocated_bytes", "reserved_bytes", "peak_reserved_bytes")
    return MemoryTotal(memory, *(stats[name] for name in names))


def _classes(memory: str, segments: list[Segment]) -> Iterator[SizeClass]:
    for name, sizes in _SIZES.items():
        of_class = [each for each in segments if each.size_class == name]
        blocks = [block for each in of_class for block in each.blocks]
        in_use = [block for block in blocks if block.is_in_use]
        yield SizeClass(
            memory,
            sizes,
            blocks=len(in_use),
            allocated_bytes=sum(block.requested for block in in_use),
            shared_bytes=sum(block.requested for block in in_use if block.state == "shared"),
            in_flight_bytes=sum(block.nbytes for block in blocks if block.state == "in flight"),
            reusable_bytes=sum(block.nbytes for block in blocks if block.state == "free"),
            reserved_bytes=sum(each.nbytes for each in of_class),
        )


def _holders(segments: list[Segment]) -> tuple[Holder, ...]:
    in_use = [block for each in segments for block in each.blocks if block.is_in_use]
    places = {origin: place_of(origin) for origin in {block.origin for block in in_use}}
    if places.keys() <= {None}:
        return ()
    found: dict[str, list[int]] = {}
    for block in in_use:
        found.setdefault(places[block.origin], []).append(block.requested)
    holders = [Holder(place, len(sizes), sum(sizes)) for place, sizes in found.items()]
    return tuple(sorted(holders, key=lambda it: it.allocated_bytes, reverse=True))
