"""Dates and times."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pylibcudf as plc  # type: ignore[import-not-found,unused-ignore]

from .. import operations as op
from ..calls import Call
from ..columns import to_arrow
from ..refusals import need
from ..registry import kernel
from ..types import cudf_type
from .zones import PER_SECOND, local

_is = pa.types
_datetime = plc.datetime
_COMPONENTS = "year month day hour minute"
_WITHIN_MINUTES = "second millisecond microsecond nanosecond"


def component_of(value: Any, name: str) -> Any:
    component = getattr(_datetime.DatetimeComponent, name.upper())
    return _datetime.extract_datetime_component(value, component)


#: By pyarrow's words: the day, from Monday on, of the year that a week belongs to.
_ISO, _US = 4, 3
#: The limit of days from 1970, in both directions; libcudf's calendar ends with the year 32,767.
MOST_DAYS = 365 * 30_000


def need_calendar(value: Any, kind: pa.DataType) -> None:
    """Refuses times beyond libcudf's calendar, and those whose day begins before all times."""
    per_day = 1 if _is.is_date(kind) else 86400 * PER_SECOND[kind.unit]
    is_near = op.are_within(value, min(MOST_DAYS * per_day, 2**63 - per_day))
    need(is_near, "not of times so far away")


def _in_calendar(call: Call) -> list[Any]:
    """The arguments as clocks show them, if libcudf's calendar has them."""
    columns = call.columns
    for column in columns:
        need_calendar(column, call.given)
    return [local(column, call.given) for column in columns]


@kernel("date time", **{name: name for name in _COMPONENTS.split()})
def component(call: Call, name: str) -> Any:
    return op.cast(component_of(_in_calendar(call)[0], name), cudf_type(call.type))


@kernel("time", **{name: name for name in _WITHIN_MINUTES.split()})
def component_within_minutes(call: Call, name: str) -> Any:
    # pyarrow does not look at the seconds by which zones differed from UTC in the past.
    need_calendar(call.value, call.given)
    return op.cast(component_of(call.value, name), cudf_type(call.type))


@kernel(
    "date time", quarter="extract_quarter", day_of_year="day_of_year", is_leap_year="is_leap_year"
)
def calendar_part(call: Call, name: str) -> Any:
    return op.cast(getattr(_datetime, name)(_in_calendar(call)[0]), cudf_type(call.type))


@kernel("date time")
def day_of_week(call: Call) -> Any:
    first, zero_based = call.options["week_start"], call.options["count_from_zero"]
    call.need(1 <= first <= 7, "not such a week")
    # libcudf counts from Monday, which is 1, to Sunday.
    day = op.cast(component_of(_in_calendar(call)[0], "weekday"), op.INT64)
    found = op.on_int64("MOD", op.on_int64("ADD", day, 7 - first), 7)
    return found if zero_based else op.on_int64("ADD", found, 1)


@kernel("date time", iso_year=_ISO, us_year=_US)
def year_of_week(call: Call, middle: int) -> Any:
    return op.cast(component_of(_middle_of_week(_in_calendar(call)[0], middle), "year"), op.INT64)


@kernel("date time", iso_week=_ISO, us_week=_US)
def week_of_year(call: Call, middle: int) -> Any:
    day = op.cast(_datetime.day_of_year(_middle_of_week(_in_calendar(call)[0], middle)), op.INT64)
    weeks = op.on_int64("DIV", op.on_int64("SUB", day, 1), 7)
    return op.on_int64("ADD", weeks, 1)


def _middle_of_week(value: Any, middle: int) -> Any:
    """The Thursday of the same week, or the Wednesday, whose year the week belongs to."""
    weekday = op.cast(component_of(value, "weekday"), op.INT32)
    if middle == _US:  # whose weeks begin with Sunday
        weekday = op.binary("MOD", weekday, op.scalar(7, pa.int32()), op.INT32)
    days = op.same_bits(op.cast(_floor(value, "DAY"), DAYS), op.INT32)
    offset = op.binary("SUB", op.scalar(middle, pa.int32()), weekday, op.INT32)
    return op.same_bits(op.binary("ADD", days, offset, op.INT32), DAYS)


@kernel("date time")
def week(call: Call) -> Any:
    options = call.options
    is_plain = not (options["count_from_zero"] or options["first_week_is_fully_in_year"])
    call.need(is_plain, "not with such weeks")
    return week_of_year(call, _ISO if options["week_starts_monday"] else _US)


@kernel("date time")
def iso_calendar(call: Call) -> Any:
    day = op.cast(component_of(_in_calendar(call)[0], "weekday"), op.INT64)
    return _structs(call, [year_of_week(call, _ISO), week_of_year(call, _ISO), day])


@kernel("date time")
def year_month_day(call: Call) -> Any:
    (value,) = _in_calendar(call)
    parts = (component_of(value, name) for name in ("year", "month", "day"))
    return _structs(call, [op.cast(part, op.INT64) for part in parts])


def _structs(call: Call, columns: list[Any]) -> Any:
    """Structs of numbers, which are null together."""
    parts = [to_arrow(column, each.type) for column, each in zip(columns, call.type, strict=True)]
    first = parts[0]
    return pa.Array.from_buffers(
        call.type, len(first), first.buffers()[:1], first.null_count, first.offset, parts
    )


@kernel("time")
def subsecond(call: Call) -> Any:
    value, per_second = op.same_bits(call.value, op.INT64), PER_SECOND[call.given.unit]
    rest = op.cast(op.rest(value, per_second), op.FLOAT64)
    return op.binary("DIV", rest, op.scalar(float(per_second), pa.float64()), op.FLOAT64)


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
        start, end = (op.same_bits(local(it, call.given), op.INT64) for it in call.columns)
        return op.on_int64("MUL", op.on_int64("SUB", end, start), per_count // nanoseconds)
    whole = (op.same_bits(_floor(it, unit), op.INT64) for it in _in_calendar(call))
    start, end = (op.on_int64("DIV", it, nanoseconds // per_count) for it in whole)
    return op.on_int64("SUB", end, start)


@kernel("date time", of_one_type=True)
def weeks_between(call: Call) -> Any:
    start = call.options["week_start"]
    call.need(1 <= start <= 7, "not such a week")
    weeks = []
    for column in _in_calendar(call):
        whole = op.cast(_floor(column, "DAY"), DAYS)
        days = op.cast(op.same_bits(whole, op.INT32), op.INT64)
        # 1970 began on a Thursday, the fourth day.
        since = op.on_int64("ADD", days, (4 - start) % 7)
        weeks.append(op.on_int64("DIV", op.on_int64("SUB", since, op.rest(since, 7)), 7))
    return op.on_int64("SUB", *reversed(weeks))


@kernel("date time", of_one_type=True, years_between=(), quarters_between=4)
def years_between(call: Call, quarters: int = 0) -> Any:
    ends = [*reversed(_in_calendar(call))]
    years = [op.cast(component_of(value, "year"), op.INT64) for value in ends]
    difference = op.on_int64("SUB", *years)
    if not quarters:
        return difference
    parts = [op.cast(_datetime.extract_quarter(value), op.INT64) for value in ends]
    in_quarters = op.on_int64("MUL", difference, quarters)
    return op.on_int64("ADD", in_quarters, op.on_int64("SUB", *parts))
