"""Time zones, by tables of their transitions that pyarrow's own answers make."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pylibcudf as plc  # type: ignore[import-not-found,unused-ignore]

from .. import operations as op
from ..calls import Call
from ..columns import to_cudf
from ..refusals import need
from ..registry import kernel
from ..types import cudf_type

_is = pa.types
#: How many of them a second has, by unit of time.
PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
#: The seconds at which 1800 and 2200 begin, between which the tables hold.
_FIRST, _END = -5364662400, 7258118400
#: No zone has had two transitions within four days.
_DAY = 86400


def has_zone(kind: pa.DataType) -> bool:
    """Whether the clocks of a type show another time than UTC."""
    return bool(_is.is_timestamp(kind)) and kind.tz not in (None, "UTC")


def local(value: Any, kind: pa.DataType) -> Any:
    """Times as the clocks of their zone show them."""
    if not has_zone(kind):
        return value
    counts = op.same_bits(value, op.INT64)
    places, offsets = _transitions(kind.tz)
    per_second = PER_SECOND[kind.unit]
    _need_near(counts, per_second)
    (shift,) = _rows_at(places, [offsets], counts, per_second)
    shift = op.on_int64("MUL", shift, per_second)
    return op.same_bits(op.on_int64("ADD", counts, shift), value.type())


def _need_near(counts: Any, per_second: int) -> None:
    ends = [each for each in op.ends_of(counts) if each is not None]
    lowest, highest = _FIRST + _DAY, _END - _DAY
    are_near = all(lowest * per_second <= each < highest * per_second for each in ends)
    need(are_near, "not of times in zones before 1800 or after 2199")


def _rows_at(
    places: Sequence[int], columns: Sequence[Sequence[int]], counts: Any, per_second: int
) -> list[Any]:
    """For each time, the values that hold from the last place before it on.  There is one value
    more than there are places."""
    needles = plc.Table([op.filled(counts, op.scalar(0, pa.int64()))])
    starts = plc.Table([_integers([each * per_second for each in places])])
    order = [op.Order.ASCENDING], [op.NullOrder.AFTER]
    rows = plc.search.upper_bound(starts, needles, *order)
    return list(op.gathered(plc.Table([*map(_integers, columns)]), rows).columns())


def _integers(values: Sequence[int]) -> Any:
    return to_cudf(pa.array(values, pa.int64()))


@lru_cache(maxsize=64)
def _transitions(zone: str) -> tuple[list[int], list[int]]:
    """The seconds at which the offset of a zone changes, and the offsets between them."""
    grid = range(_FIRST, _END, _DAY)
    found = _offsets(zone, grid)
    changes = pc.indices_nonzero(pc.pairwise_diff(pa.array(found)).fill_null(0)).to_pylist()
    before, after = ([grid[place - back] for place in changes] for back in (1, 0))
    kept = [found[place - 1] for place in changes]
    while any(end - start > 1 for start, end in zip(before, after, strict=True)):
        middle = [(start + end) // 2 for start, end in zip(before, after, strict=True)]
        for place, offset in enumerate(_offsets(zone, middle)):
            (before if offset == kept[place] else after)[place] = middle[place]
    return after, [found[0], *(found[place] for place in changes)]


def _offsets(zone: str, seconds: Sequence[int]) -> list[int]:
    counts = pa.array(seconds, pa.int64())
    times = counts.cast(pa.timestamp("s", "UTC")).cast(pa.timestamp("s", zone))
    found: list[int] = pc.subtract(pc.local_timestamp(times).cast(pa.int64()), counts).to_pylist()
    return found


@kernel("time")
def local_timestamp(call: Call) -> Any:
    return local(call.value, call.given)


#: How many times a clock shows what it shows: once, twice or never.
_ONCE, _TWICE, _NEVER = 0, 1, 2
#: Rules for times that a clock shows twice or never, by pyarrow's numbers.
_RAISE, _EARLIEST = 0, 1


class _Clock(NamedTuple):
    """From each place on, what a clock shows: how often, and the time in UTC.  This is a number of
    seconds before it, or after a gap a fixed time."""

    places: list[int]
    times: list[int]
    #: For each choice, the earliest and the latest time: the shifts.
    shifts: tuple[list[int], list[int]]
    fixed: list[int]


@lru_cache(maxsize=64)
def _clock(zone: str) -> _Clock:
    places, offsets = _transitions(zone)
    found = _Clock([], [_ONCE], ([offsets[0]], [offsets[0]]), [0])
    for place, before, after in zip(places, offsets, offsets[1:], strict=False):
        low, high = sorted((before, after))
        found.places.extend((place + low, place + high))
        found.times.extend((_TWICE if after < before else _NEVER, _ONCE))
        found.shifts[0].extend((before, after))
        found.shifts[1].extend((after, after))
        found.fixed.extend((place, 0))
    return found


@kernel("time")
def assume_timezone(call: Call) -> Any:
    zone, per_second = call.options["timezone"], PER_SECOND[call.given.unit]
    if call.given.tz is not None:
        text = (
            f"Timestamps already have a timezone: '{call.given.tz}'. Cannot localize to '{zone}'."
        )
        raise pa.ArrowInvalid(text)
    if zone == "UTC":
        return call.value
    clock = _clock(zone)
    counts = op.same_bits(call.value, op.INT64)
    _need_near(counts, per_second)
    ambiguous, nonexistent = (call.options[name] for name in ("ambiguous", "nonexistent"))
    shifts = clock.shifts[ambiguous != _EARLIEST]
    columns = [clock.times, shifts, clock.fixed]
    times, shift, fixed = _rows_at(clock.places, columns, counts, per_second)
    wrong = [
        each for each, choice in ((_TWICE, ambiguous), (_NEVER, nonexistent)) if choice == _RAISE
    ]
    _raise_for(call, times, wrong)
    fixed = op.on_int64("SUB", op.on_int64("MUL", fixed, per_second), int(nonexistent == _EARLIEST))
    usual = op.on_int64("SUB", counts, op.on_int64("MUL", shift, per_second))
    found = op.choose(_are(times, _NEVER), fixed, usual)
    found = op.null_where(plc.unary.is_null(counts), found) if counts.null_count() else found
    return op.same_bits(found, cudf_type(call.type))


def _are(times: Any, number: int) -> Any:
    return op.binary("EQUAL", times, op.scalar(number, pa.int64()))


def _raise_for(call: Call, times: Any, wrong: list[int]) -> None:
    """Raises pyarrow's error for the first time that a clock shows twice or never."""
    for number in wrong:
        found = op.binary("LOGICAL_AND", _are(times, number), op.is_valid(call.value))
        if op.is_anywhere(found):
            count = op.first_where(found, op.same_bits(call.value, op.INT64)).to_py()
            time = pa.scalar(count, pa.int64()).cast(call.given)
            pc.assume_timezone(time, call.options["timezone"])
