"""Whether strings are UTF-8, which libcudf takes for granted."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pylibcudf as plc  # type: ignore[import-not-found,unused-ignore]

from .. import operations as op
from ..admission import need_rows
from ..columns import from_first_row
from ..types import MOST_ROWS

_UINT8 = plc.DataType(plc.TypeId.UINT8)
#: The most bytes of a character after its first one.
_AFTER = 3


def are_utf8(strings: Any) -> bool:
    """Whether all strings are, and the bytes under nulls."""
    strings = from_first_row(strings)
    data = strings.data()
    if data is None or not data.size:
        return True
    need_rows(data.size, MOST_ROWS - 2 * _AFTER)
    found = plc.Column(_UINT8, data.size, data, None, 0, 0, [])
    if op.reduced(found, plc.aggregation.max()).to_py() < 0x80:
        return True
    return _starts_are_whole(found, strings.child(0)) and _is_valid(found)


def _byte(value: int) -> Any:
    return op.scalar(value, pa.uint8())


def _is(place: int, value: int) -> tuple[Any, ...]:
    return "EQUAL", place, _byte(value)


def _is_least(place: int, value: int) -> tuple[Any, ...]:
    return "GREATER_EQUAL", place, _byte(value)


def _is_less(place: int, value: int) -> tuple[Any, ...]:
    return "LESS", place, _byte(value)


def _all(one: Any, *others: Any, operator: str = "LOGICAL_AND") -> Any:
    for other in others:
        one = operator, one, other
    return one


def _any(*parts: Any) -> Any:
    return _all(*parts, operator="LOGICAL_OR")


def _follows() -> Any:
    """Whether a byte is none that starts a character."""
    return _all(_is_least(0, 0x80), _is_less(0, 0xC0))


def _starts_are_whole(data: Any, offsets: Any) -> bool:
    """Whether no string starts within a character."""
    firsts = op.one(op.gathered(plc.Table([data]), offsets, may_lack=True))
    return not op.is_anywhere(op.computed(_follows(), firsts))


def _is_valid(data: Any) -> bool:
    """Whether the bytes of all strings, one after the other, are UTF-8."""
    rest = plc.Column.from_scalar(_byte(0), _AFTER)
    padded = plc.concatenate.concatenate([rest, data, rest])
    rows = padded.size() - _AFTER
    # The byte of each row, and those one, two and three bytes before.
    ends = ((place, place + rows) for place in range(_AFTER, -1, -1))
    columns = [plc.copying.slice(padded, [*pair])[0] for pair in ends]
    # How many bytes follow the first one is told by that.
    is_expected = _any(_is_least(1, 0xC2), _is_least(2, 0xE0), _is_least(3, 0xF0))
    is_unknown = _any(_is(0, 0xC0), _is(0, 0xC1), _is_least(0, 0xF5))
    wrong = _any(("NOT_EQUAL", _follows(), is_expected), is_unknown)
    # Too long forms, surrogates, and what lies beyond the last character.
    limits = (
        _all(_is(1, 0xE0), _is_less(0, 0xA0)),
        _all(_is(1, 0xED), _is_least(0, 0xA0)),
        _all(_is(1, 0xF0), _is_less(0, 0x90)),
        _all(_is(1, 0xF4), _is_least(0, 0x90)),
    )
    return not any(op.is_anywhere(op.computed(it, *columns)) for it in (wrong, _any(*limits)))
