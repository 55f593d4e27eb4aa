"""Times that are rounded to units and multiples of them."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pylibcudf as plc  # type: ignore[import-not-found,unused-ignore]

from .. import operations as op
from ..calls import Call
from ..refusals import need
from ..registry import kernel
from ..types import cudf_type
from .times import DAYS, MOST_DAYS, component_of, need_calendar
from .zones import PER_SECOND, has_zone

_is = pa.types
_SECOND = 10**9
_DAY = 86400 * _SECOND
_NANOSECONDS = {
    "NANOSECOND": 1,
    "MICROSECOND": 10**3,
    "MILLISECOND": 10**6,
    "SECOND": _SECOND,
    "MINUTE": 60 * _SECOND,
    "HOUR": 3600 * _SECOND,
    "DAY": _DAY,
    "WEEK": 7 * _DAY,
}
_MONTHS = {"MONTH": 1, "QUARTER": 3, "YEAR": 12}
#: By pyarrow's numbers.
_UNITS = (*_NANOSECONDS, *_MONTHS)


@kernel("date time", floor_temporal="floor", ceil_temporal="ceil", round_temporal="round")
def round_to_unit(call: Call, name: str) -> Any:
    options, tick = call.options, _tick_of(call.given)
    call.need(options["multiple"] >= 1, "not to such a multiple")
    call.need(not has_zone(call.given), "not in time zones")
    bits = op.same_bits(call.value, op.INT32 if tick == _DAY else op.INT64)
    counts = op.cast(bits, op.INT64)
    in_months = _UNITS[options["unit"]] in _MONTHS
    below, above = (_months if in_months else _fixed_units)(call, counts, tick)
    found = below
    if name == "ceil" and not (in_months or options["ceil_is_strictly_greater"]):
        found = op.choose(op.binary("EQUAL", below, counts), counts, above)
    elif name == "ceil":
        found = above
    elif name == "round":
        rest = (op.on_int64("SUB", counts, below), op.on_int64("SUB", above, counts))
        found = op.choose(op.binary("LESS", *rest), below, above)
    return op.same_bits(op.cast(found, bits.type()), cudf_type(call.type))


def _tick_of(kind: pa.DataType) -> int:
    """The nanoseconds between two values of a type."""
    return _DAY if _is.is_date(kind) else _SECOND // PER_SECOND[kind.unit]


def _fixed_units(call: Call, counts: Any, tick: int) -> tuple[Any, Any]:
    """The times below, which may be the same, and above."""
    name = _UNITS[call.options["unit"]]
    nanoseconds = _NANOSECONDS[name] * call.options["multiple"]
    call.need(nanoseconds % tick == 0, f"not to units that {call.given} does not have")
    unit = nanoseconds // tick
    most = min(MOST_DAYS * (_DAY // tick), 2**63 - 2 * unit - _DAY * 7 // tick)
    call.need(most > 0 and op.are_within(counts, most), "not of times so far away")
    if call.options["calendar_based_origin"]:
        since = op.on_int64("SUB", counts, _calendar_origin(call, counts, name, tick))
    elif name == "WEEK":
        # 1970 began on a Thursday.
        since = op.on_int64("ADD", counts, (3 + (not _on_monday(call))) * (_DAY // tick))
    else:
        since = counts
    below = op.on_int64("SUB", counts, op.rest(since, unit))
    return below, op.on_int64("ADD", below, unit)


def _on_monday(call: Call) -> bool:
    return bool(call.options["week_starts_monday"])


def _calendar_origin(call: Call, counts: Any, name: str, tick: int) -> Any:
    """The beginning of the next larger unit, from which a unit is counted."""
    call.need(name != "WEEK", "not weeks by the calendar")
    if name == "DAY":
        need_calendar(call.value, call.given)
        day = op.cast(component_of(call.value, "day"), op.INT64)
        passed = op.on_int64("MUL", op.on_int64("SUB", day, 1), _DAY // tick)
        return op.on_int64("SUB", op.on_int64("SUB", counts, op.rest(counts, _DAY // tick)), passed)
    larger = max(_NANOSECONDS[_UNITS[_UNITS.index(name) + 1]] // tick, 1)
    return op.on_int64("SUB", counts, op.rest(counts, larger))


def _months(call: Call, counts: Any, tick: int) -> tuple[Any, Any]:
    """The beginnings of months below and above."""
    name, multiple = _UNITS[call.options["unit"]], call.options["multiple"]
    months = _MONTHS[name] * multiple
    call.need(months <= 12_000, "not to so many months")
    need_calendar(call.value, call.given)
    year, month = (op.cast(component_of(call.value, part), op.INT64) for part in ("year", "month"))
    since = op.on_int64("MUL", op.on_int64("SUB", year, 1970), 12)
    if name == "YEAR":  # counted from the year 0
        since = op.on_int64("SUB", since, op.on_int64("MUL", op.rest(year, multiple), 12))
    else:
        passed = op.on_int64("SUB", month, 1)
        if call.options["calendar_based_origin"]:
            since = op.on_int64("ADD", since, op.on_int64("SUB", passed, op.rest(passed, months)))
        else:
            since = op.on_int64("ADD", since, passed)
            since = op.on_int64("SUB", since, op.rest(since, months))
    return tuple(_beginning_of(it, tick) for it in (since, op.on_int64("ADD", since, months)))


def _beginning_of(months: Any, tick: int) -> Any:
    """The time at which a month begins that is counted from 1970."""
    start = plc.Column.from_scalar(op.scalar(0, pa.int32()), months.size())
    dates = plc.datetime.add_calendrical_months(
        op.same_bits(start, DAYS), op.cast(months, op.INT32)
    )
    days = op.cast(op.same_bits(dates, op.INT32), op.INT64)
    need(op.are_within(days, (2**63 - 1) // (_DAY // tick)), "not of times so far away")
    return op.on_int64("MUL", days, _DAY // tick)
