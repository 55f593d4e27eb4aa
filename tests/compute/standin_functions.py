"""What the stand-in does with values: decimals, running aggregates, times, lists and strings."""

from __future__ import annotations

import operator
import re
from calendar import monthrange
from collections.abc import Callable
from datetime import datetime, timedelta
from math import inf
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc


def modulo(left: Any, right: Any) -> Any:
    """The rest of a division that truncates."""
    return pc.subtract(left, pc.multiply(pc.divide(left, right), right))


def _quotient(left: int, right: int) -> int:
    return abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)


_OF_INTEGERS: dict[str, Callable[[int, int], Any]] = {
    "ADD": operator.add,
    "SUB": operator.sub,
    "MUL": operator.mul,
    "DIV": _quotient,
    "EQUAL": operator.eq,
    "NOT_EQUAL": operator.ne,
    "LESS": operator.lt,
    "LESS_EQUAL": operator.le,
    "GREATER": operator.gt,
    "GREATER_EQUAL": operator.ge,
}
_BITS = 2**128


def integers(values: Any) -> list[int | None]:
    """The integers of which decimals are made."""
    if values.null_count == len(values):
        return [None] * len(values)
    data = values.buffers()[1].to_pybytes()
    places = range(16 * values.offset, 16 * (values.offset + len(values)), 16)
    found = [int.from_bytes(data[it : it + 16], "little", signed=True) for it in places]
    return [it if valid else None for it, valid in zip(found, values.is_valid(), strict=True)]


def decimals(values: list[int | None], kind: pa.DataType) -> Any:
    """Decimals of integers, which wrap."""
    wrapped = [(0 if it is None else it) % _BITS for it in values]
    data = pa.py_buffer(b"".join(it.to_bytes(16, "little") for it in wrapped))
    mask = pa.array([it is not None for it in values], pa.bool_()).buffers()[1]
    return pa.Array.from_buffers(kind, len(values), [mask, data])


def of_decimals(name: str, left: Any, right: Any, kind: pa.DataType) -> Any:
    """A binary operation on decimals: sums and comparisons of one scale, as the kernels ask for."""
    rows = max(len(it) for it in (left, right) if isinstance(it, pa.Array))
    columns = [
        it if isinstance(it, pa.Array) else pa.array([it.as_py()] * rows, it.type)
        for it in (left, right)
    ]
    scales = [it.type.scale for it in columns]
    numbers = [*map(integers, columns)]
    if name not in ("MUL", "DIV"):
        most = max(scales)
        numbers = [
            [None if it is None else it * 10 ** (most - scale) for it in values]
            for values, scale in zip(numbers, scales, strict=True)
        ]
    pairs = zip(*numbers, strict=True)
    function = _OF_INTEGERS[name]
    found = [
        None if None in pair or (name == "DIV" and not pair[1]) else function(*pair)
        for pair in pairs
    ]
    return decimals(found, kind) if pa.types.is_decimal(kind) else pa.array(found, kind)


def _running(values: Any, aggregation: str) -> Any:
    """Nulls stay, and change nothing."""
    if pa.types.is_decimal(values.type):
        total, found = 0, []
        for each in integers(values):
            total += each or 0
            found.append(None if each is None else total)
        return decimals(found, values.type)
    name = {"product": "prod"}.get(aggregation, aggregation)
    # The usual start of pyarrow 21 is not the least number.
    ends = {"min": inf, "max": -inf} if pa.types.is_floating(values.type) else {}
    return getattr(pc, f"cumulative_{name}")(values, start=ends.get(name), skip_nulls=True)


def _component(values: Any, name: str) -> Any:
    """Of dates, too, which have no hours in pyarrow."""
    if name == "weekday":
        return pc.day_of_week(values, count_from_zero=False).cast(pa.int16())
    values = values.cast(pa.timestamp("s")) if pa.types.is_date(values.type) else values
    return getattr(pc, name)(values).cast(pa.int16())


def _plus_months(dates: Any, months: Any) -> Any:
    """The same day, or the last one of its month."""
    found = []
    for date, more in zip(dates.to_pylist(), months.to_pylist(), strict=True):
        if date is None or more is None:
            found.append(None)
            continue
        total = date.year * 12 + date.month - 1 + more
        last = monthrange(total // 12, total % 12 + 1)[1]
        found.append(date.replace(total // 12, total % 12 + 1, min(date.day, last)))
    return pa.array(found, dates.type)


def _sequences(starts: Any, sizes: Any, steps: Any) -> Any:
    rows = zip(*(it.value.to_pylist() for it in (starts, sizes, steps)), strict=True)
    found = [[start + step * number for number in range(size)] for start, size, step in rows]
    return pa.array(found, pa.list_(starts.value.type))


def _segmented_gather(lists: Any, numbers: Any, policy: Any) -> Any:
    """The nulls are those of the lists; the offsets are those of the numbers."""
    assert numbers.null_count == 0
    found = []
    for each, wanted in zip(lists.to_pylist(), numbers.to_pylist(), strict=True):
        elements = each or []
        if policy._name != "NULLIFY":
            assert all(number < len(elements) for number in wanted)
        found.append([elements[it] if it < len(elements) else None for it in wanted])
    made = pa.array(found, lists.type)
    valid = pa.array(lists.is_valid(), pa.bool_()).buffers()[1]
    buffers = [valid, made.buffers()[1]]
    return pa.Array.from_buffers(lists.type, len(made), buffers, -1, 0, [made.values])


def _repeated(given: Any, counts: Any) -> Any:
    places = [place for place, count in enumerate(counts.value.to_pylist()) for _ in range(count)]
    return pa.array(places, pa.int64())


_FRACTION = re.compile("%([369])f")


def _text(count: int, per_second: int, form: str) -> str:
    seconds, rest = divmod(count, per_second)
    digits = f"{rest * (10**9 // per_second):09d}"
    form = _FRACTION.sub(lambda found: digits[: int(found[1])], form)
    time = datetime(1970, 1, 1) + timedelta(seconds=seconds)
    return time.strftime(form.replace("%Y", f"{time.year:04d}"))


def _parsed(text: str, form: str, per_second: int) -> int | None:
    try:
        passed = datetime.strptime(text, form) - datetime(1970, 1, 1)
    except ValueError:
        return None
    count = (passed // timedelta(seconds=1)) * per_second
    return (count + 2**63) % 2**64 - 2**63


_PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


def _of_texts(convert: Any, column: Any) -> None:
    def from_timestamps(times: Any, form: str, _: Any) -> Any:
        counts, unit = times.value.cast(pa.int64()).to_pylist(), times.value.type.unit
        found = [None if it is None else _text(it, _PER_SECOND[unit], form) for it in counts]
        return column(pa.array(found, pa.string()))

    def to_timestamps(texts: Any, kind: Any, form: str) -> Any:
        per_second = _PER_SECOND[kind.kind.unit]
        found = [it and _parsed(it, form, per_second) for it in texts.value.to_pylist()]
        return column(pa.array(found, pa.int64()).cast(kind.kind))

    def is_timestamp(texts: Any, form: str) -> Any:
        found = [
            None if it is None else _parsed(it, form, 1) is not None
            for it in texts.value.to_pylist()
        ]
        return column(pa.array(found, pa.bool_()))

    convert.from_timestamps, convert.to_timestamps = from_timestamps, to_timestamps
    convert.is_timestamp = is_timestamp


def rank(column: Any) -> Any:
    """libcudf's ranks, which the stand-in has only where a test asks for them."""

    def ranked(values: Any, method: Any, order: Any, _: Any, nulls: Any, percentage: bool) -> Any:
        assert not percentage
        descends = order._name == "DESCENDING"
        place = "at_start" if (nulls._name == "BEFORE") != descends else "at_end"
        how = {"sort_keys": order._name.lower(), "tiebreaker": method._name.lower()}
        return column(pc.rank(values.value, null_placement=place, **how).cast(pa.int32()))

    return ranked


def install(names: Any, column: Any, table: Any) -> None:
    """Gives pylibcudf's modules these functions, over the stand-in's columns and tables."""
    names.datetime.extract_datetime_component = lambda it, part: column(
        _component(it.value, part._name.lower())
    )
    names.datetime.add_calendrical_months = lambda it, months: column(
        _plus_months(it.value, months.value)
    )
    for name in ("day_of_year", "is_leap_year"):
        setattr(names.datetime, name, lambda it, name=name: column(getattr(pc, name)(it.value)))
    names.datetime.extract_quarter = lambda it: column(pc.quarter(it.value))
    names.datetime.floor_datetimes = lambda it, unit: column(
        pc.floor_temporal(it.value, unit=unit._name.lower())
    )
    names.copying.shift = lambda it, periods, filler: column(
        pa.concat_arrays([pa.array([filler.value.as_py()], it.value.type), it.value[:-periods]])
    )
    names.lists.count_elements = lambda it: column(pc.list_value_length(it.value))
    names.lists.sequences = lambda *given: column(_sequences(*given))
    names.lists.segmented_gather = lambda it, numbers, policy: column(
        _segmented_gather(it.value, numbers.value, policy)
    )
    names.filling.repeat = lambda it, counts: table(
        [column(each.value.take(_repeated(it, counts))) for each in it.columns()]
    )
    _of_texts(names.strings.convert.convert_datetime, column)
    convert = names.strings.convert.convert_integers
    convert.from_integers = lambda it: column(it.value.cast(pa.string()))
    names.reduce.scan = lambda it, aggregation, _: column(_running(it.value, aggregation._name))
