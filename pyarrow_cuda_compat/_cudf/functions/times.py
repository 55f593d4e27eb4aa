"""Dates and times."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pylibcudf as plc  # type: ignore[import-not-found,unused-ignore]

from .. import operations as op
from ..calls import Call
from ..refusals import need
from ..registry import kernel
from ..types import cudf_type

_is = pa.types
_datetime = plc.datetime
_COMPONENTS = "year month day hour minute second millisecond microsecond nanosecond"
#: How many of them a second, minute, hour or day has, by unit of time.
PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


def component_of(value: Any, name: str) -> Any:
    component = getattr(_datetime.DatetimeComponent, name.upper())
    return _datetime.extract_datetime_component(value, component)


#: The limit of days from 1970, in both directions; libcudf's calendar ends with the year 32,767.
MOST_DAYS = 365 * 30_000


def need_calendar(value: Any, kind: pa.DataType) -> None:
    """Refuses times beyond libcudf's calendar, and those whose day begins before all times."""
    per_day = 1 if _is.is_date(kind) else 86400 * PER_SECOND[kind.unit]
    is_near = op.are_within(value, min(MOST_DAYS * per_day, 2**63 - per_day))
    need(is_near, "not of times so far away")


def _in_calendar(call: Call) -> Any:
    """The argument, if libcudf's calendar has it."""
    need_calendar(call.value, call.given)
    return call.value


@kernel("date time", **{name: name for name in _COMPONENTS.split()})
def component(call: Call, name: str) -> Any:
    return op.cast(component_of(_in_calendar(call), name), cudf_type(call.type))


@kernel(
    "date time", quarter="extract_quarter", day_of_year="day_of_year", is_leap_year="is_leap_year"
)
def calendar_part(call: Call, name: str) -> Any:
    return op.cast(getattr(_datetime, name)(_in_calendar(call)), cudf_type(call.type))


@kernel("date time")
def day_of_week(call: Call) -> Any:
    first, zero_based = call.options["week_start"], call.options["count_from_zero"]
    call.need(1 <= first <= 7, "not such a week")
    # libcudf counts from Monday, which is 1, to Sunday.
    day = op.cast(component_of(_in_calendar(call), "weekday"), op.INT64)
    found = op.on_int64("MOD", op.on_int64("ADD", day, 7 - first), 7)
    return found if zero_based else op.on_int64("ADD", found, 1)


@kernel("date time")
def iso_year(call: Call) -> Any:
    return op.cast(component_of(_thursday_of_week(_in_calendar(call)), "year"), op.INT64)


@kernel("date time")
def iso_week(call: Call) -> Any:
    day = op.cast(_datetime.day_of_year(_thursday_of_week(_in_calendar(call))), op.INT64)
    weeks = op.on_int64("DIV", op.on_int64("SUB", day, 1), 7)
    return op.on_int64("ADD", weeks, 1)


def _thursday_of_week(value: Any) -> Any:
    """The Thursday of the same week: ISO 8601 gives the week the year of its Thursday."""
    weekday = op.cast(component_of(value, "weekday"), op.INT32)
    days = op.same_bits(op.cast(_floor(value, "DAY"), DAYS), op.INT32)
    offset = op.binary("SUB", op.scalar(4, pa.int32()), weekday, op.INT32)
    return op.same_bits(op.binary("ADD", days, offset, op.INT32), DAYS)


DAYS = plc.DataType(plc.TypeId.TIMESTAMP_DAYS)


def _floor(value: Any, unit: str) -> Any:
    if value.type() == DAYS:
        return value
    return _datetime.floor_datetimes(value, getattr(_datetime.RoundingFrequency, unit))


#: By unit between two times: what they are floored to, and how many nanoseconds it has.
_SECOND = 10**9
_BETWEEN = {
    "days_between": ("DAY", 86400 * _SECOND),
    "hours_between": ("HOUR", 3600 * _SECOND),
    "minutes_between": ("MINUTE", 60 * _SECOND),
    "seconds_between": ("SECOND", _SECOND),
    "milliseconds_between": ("MILLISECOND", 10**6),
    "microseconds_between": ("MICROSECOND", 10**3),
    "nanoseconds_between": ("NANOSECOND", 1),
}


@kernel("time", of_one_type=True, **_BETWEEN)
def count_between(call: Call, unit: str, nanoseconds: int) -> Any:
    per_count = _SECOND // PER_SECOND[call.given.unit]
    if nanoseconds <= per_count:
        start, end = (op.same_bits(value, op.INT64) for value in call.values)
        return op.on_int64("MUL", op.on_int64("SUB", end, start), per_count // nanoseconds)
    counts = []
    for value, kind in zip(call.values, call.types, strict=True):
        column = op.column_of(value, call.rows)
        need_calendar(column, kind)
        whole = op.same_bits(_floor(column, unit), op.INT64)
        counts.append(op.on_int64("DIV", whole, nanoseconds // per_count))
    return op.on_int64("SUB", *reversed(counts))


@kernel("date time", of_one_type=True, years_between=(), quarters_between=4)
def years_between(call: Call, quarters: int = 0) -> Any:
    start, end = (op.column_of(value, call.rows) for value in call.values)
    for value in (start, end):
        need_calendar(value, call.given)
    years = [op.cast(component_of(value, "year"), op.INT64) for value in (end, start)]
    difference = op.on_int64("SUB", *years)
    if not quarters:
        return difference
    parts = [op.cast(_datetime.extract_quarter(value), op.INT64) for value in (end, start)]
    in_quarters = op.on_int64("MUL", difference, quarters)
    return op.on_int64("ADD", in_quarters, op.on_int64("SUB", *parts))


@kernel("time")
def local_timestamp(call: Call) -> Any:
    return call.value


@kernel("time")
def assume_timezone(call: Call) -> Any:
    is_utc = call.options["timezone"] == "UTC" and call.given.tz is None
    call.need(is_utc, "not from or to another time zone than UTC")
    return call.value
