"""Functions of characters, by tables of pyarrow's own answers."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pylibcudf as plc  # type: ignore[import-not-found,unused-ignore]

from .. import operations as op
from ..calls import Call
from ..registry import kernel
from .strings import all_ascii, need_ascii, string_scalar

_strings = plc.strings
_Filter = _strings.translate.FilterType
_BEHIND_ASCII, _BEHIND_UNICODE = 0x80, 0x110000
_SURROGATES = range(0xD800, 0xE000)


def _characters(name: str) -> Any:
    """All characters that a function tells apart."""
    end = _BEHIND_ASCII if name.startswith("ascii") else _BEHIND_UNICODE
    return pa.array([chr(code) for code in range(end) if code not in _SURROGATES])


_CASES = {
    "upper": _strings.case.to_upper,
    "lower": _strings.case.to_lower,
    "swapcase": _strings.case.swapcase,
    "capitalize": _strings.capitalize.capitalize,
    "title": _strings.capitalize.title,
}


@kernel("string", **{f"{of}_{case}": case for of in ("utf8", "ascii") for case in _CASES})
def change_case(call: Call, name: str) -> Any:
    value = call.value
    if name == "title" or all_ascii(value):
        return _CASES[name](need_ascii(call))
    call.need(not _has_nul(value), "not with NUL and characters beyond ASCII")
    # The tables of Unicode differ.
    prefix = call.name.partition("_")[0]
    if name != "capitalize":
        return _translated(value, call.name)
    first, rest = (_part(value, *ends) for ends in ((0, 1), (1, None)))
    parts = _translated(first, f"{prefix}_upper"), _translated(rest, f"{prefix}_lower")
    return _strings.combine.concatenate(
        plc.Table([*parts]), string_scalar(""), op.scalar(None, pa.string()), None
    )


def _part(value: Any, start: int, stop: int | None) -> Any:
    bounds = (op.scalar(bound, pa.int32()) for bound in (start, stop, 1))
    return _strings.slice.slice_strings(value, *bounds)


def _has_nul(value: Any) -> bool:
    """Whether a string has the character for which libcudf's `translate` writes no byte."""
    return op.is_anywhere(_strings.find.contains(value, string_scalar("\0")))


def _translated(value: Any, function: str) -> Any:
    return _strings.translate.translate(value, _pairs(function))


@lru_cache(maxsize=8)
def _pairs(function: str) -> dict[str, str]:
    """The characters that a function changes, which it does to each for itself."""
    before = _characters(function)
    after = getattr(pc, function)(before)
    changed = pc.not_equal(before, after)
    return dict(zip(*(it.filter(changed).to_pylist() for it in (before, after)), strict=True))


#: By class, in ASCII: what strings must not have anywhere, and what somewhere; None if they may be
#: empty.
_CLASSES = {
    "alpha": ("[^A-Za-z]", "[A-Za-z]"),
    "alnum": ("[^A-Za-z0-9]", "[A-Za-z0-9]"),
    "decimal": ("[^0-9]", "[0-9]"),
    "digit": ("[^0-9]", "[0-9]"),
    "numeric": ("[^0-9]", "[0-9]"),
    "upper": ("[a-z]", "[A-Z]"),
    "lower": ("[A-Z]", "[a-z]"),
    "space": ("[^ \t\n\v\f\r]", "[ \t\n\v\f\r]"),
    "printable": ("[^ -~]", None),
}
_FUNCTIONS = {
    name: each
    for each in _CLASSES
    for of in ("utf8", "ascii")
    if (name := f"{of}_is_{each}") in pc.list_functions()
}


@kernel("string", **_FUNCTIONS)
def is_in_class(call: Call, name: str) -> Any:
    value = call.value
    if call.name.startswith("utf8") and not all_ascii(value):
        return _is_in_class_of_unicode(value, call.name)
    forbidden, required = _CLASSES[name]
    if call.name == "utf8_is_space":
        forbidden, required = (str(it).replace("\r", "\r\x1c-\x1f") for it in _CLASSES[name])
    has_no_other = op.invert(op.matches(value, forbidden))
    if required is None:
        return has_no_other
    return op.binary("LOGICAL_AND", has_no_other, op.matches(value, required))


def _is_in_class_of_unicode(value: Any, function: str) -> Any:
    forbidden, required = _ranges(function)
    has_no_other = op.invert(_has_any(value, forbidden))
    if _CLASSES[_FUNCTIONS[function]][1] is None:
        return has_no_other
    return op.binary("LOGICAL_AND", has_no_other, _has_any(value, required))


def _has_any(value: Any, ranges: dict[str, str]) -> Any:
    """Whether strings have a character in one of the ranges."""
    found = _strings.translate.filter_characters(value, ranges, _Filter.KEEP, string_scalar(""))
    nothing = op.scalar(0, pa.int32())
    return op.binary("GREATER", _strings.attributes.count_bytes(found), nothing)


@lru_cache(maxsize=16)
def _ranges(function: str) -> tuple[dict[str, str], dict[str, str]]:
    """The characters that make a function false of every string, and those of which it needs one,
    as ranges by their first ones."""
    is_in = getattr(pc, function)
    characters = _characters(function)
    required = is_in(characters)
    one = characters.filter(required)[0]
    forbidden = pc.invert(is_in(pc.binary_join_element_wise(one, characters, "")))
    return _in_ranges(characters.filter(forbidden)), _in_ranges(characters.filter(required))


def _in_ranges(characters: Any) -> dict[str, str]:
    ranges: dict[str, str] = {}
    first = last = None
    for each in characters.to_pylist():
        if last is None or ord(each) != ord(last) + 1:
            first = each
        ranges[str(first)] = last = each
    return ranges
