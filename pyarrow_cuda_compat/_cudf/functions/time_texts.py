"""Times as texts, and back."""

from __future__ import annotations

import re
from typing import Any

import pyarrow as pa
import pylibcudf as plc  # type: ignore[import-not-found,unused-ignore]

from .. import operations as op
from ..calls import Call
from ..registry import kernel
from ..types import cudf_type
from .strings import string_scalar
from .times import need_calendar
from .zones import PER_SECOND, local

_is = pa.types
_convert = plc.strings.convert.convert_datetime
#: Directives that stand for several others.
_SHORT = {"%F": "%Y-%m-%d", "%T": "%H:%M:%S"}
#: By directive that both write alike: how many digits it has.
_DIGITS = {"%Y": 4, "%m": 2, "%d": 2, "%H": 2, "%M": 2, "%S": 2, "%j": 3, "%y": 2}
_PARTS = re.compile(r"%.|[^%]", re.DOTALL)
#: The seconds at which the years 1 and 10,000 begin, between which years have four digits.
_FIRST, _END = -62135596800, 253402300800
#: By unit of time: the digits behind the second, which pyarrow writes with it.
_FRACTIONS = {"s": "", "ms": ".%3f", "us": ".%6f", "ns": ".%9f"}


def _parts_of(call: Call) -> list[str]:
    """The directives and characters of the format."""
    text = call.options["format"]
    for short, long in _SHORT.items():
        text = text.replace(short, long)
    parts = _PARTS.findall(text)
    are_known = all(it in _DIGITS or (it != "%" and len(it) == 1) for it in parts)
    call.need(parts and text.isprintable() and text.isascii() and are_known, "not with this format")
    call.need("".join(parts) == text, "not with this format")
    return list(parts)


@kernel("date time")
def strftime(call: Call) -> Any:
    call.need(call.options.get("locale", "C") == "C", "not in such a locale")
    return written(call, _parts_of(call))


def written(call: Call, parts: list[str]) -> Any:
    """The argument in a format of directives and characters, each in a part of its own."""
    kind = call.given
    need_calendar(call.value, kind)
    value = local(call.value, kind)
    if _is.is_date(kind):
        kind = pa.timestamp("s")
        value = op.cast(value, cudf_type(kind))
    per_second = PER_SECOND[kind.unit]
    ends = [it for it in op.ends_of(op.same_bits(value, op.INT64)) if it is not None]
    are_near = all(_FIRST * per_second <= it < _END * per_second for it in ends)
    call.need(are_near, "not of years without four digits")
    return _texts(value, parts, _FRACTIONS[kind.unit])


def _texts(times: Any, parts: list[str], fraction: str) -> Any:
    form = "".join(f"{it}{fraction}" if it == "%S" else it for it in parts)
    no_names = op.column_of(string_scalar(""), 0)
    return _convert.from_timestamps(times, form, no_names)


@kernel("string")
def strptime(call: Call) -> Any:
    parts = _parts_of(call)
    directives = [it for it in parts if it in _DIGITS]
    are_dates = {*directives} >= {"%Y", "%m", "%d"} and not {*directives} & {"%j", "%y"}
    is_once = len({*directives}) == len(directives)
    call.need(are_dates and is_once, "not with this format")
    call.need(" " not in parts, "not with spaces in the format")
    is_plain = op.matches(call.value, "^" + "".join(map(_pattern_of, parts)))
    size = op.scalar(sum(_DIGITS.get(it, 1) for it in parts), pa.int32())
    is_long = op.binary("EQUAL", plc.strings.attributes.count_bytes(call.value), size)
    form, kind = "".join(parts), cudf_type(call.type)
    is_time = _convert.is_timestamp(call.value, form)
    for each in (is_plain, is_long, is_time):
        call.need(op.is_everywhere(each), "not of texts that are not exactly in this format")
    found = _convert.to_timestamps(call.value, kind, form)
    # Times that the type does not have come back as others.
    again = op.binary("EQUAL", _texts(found, parts, ""), call.value)
    call.need(op.is_everywhere(again), "not of times that the type does not have")
    return found


def _pattern_of(part: str) -> str:
    if part in _DIGITS:
        return "[0-9]" * _DIGITS[part]
    return part if part.isalnum() else f"\\{part}"
