"""Strings."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pylibcudf as plc  # type: ignore[import-not-found,unused-ignore]

from .. import operations as op
from ..calls import Call
from ..registry import kernel
from ..types import cudf_type
from .regexes import Translation

_strings = plc.strings
_Side = _strings.side_type.SideType
_INT32_MAX = 2**31 - 1
_INT8 = plc.DataType(plc.TypeId.INT8)


def _limit(call: Call, name: str) -> int:
    """A number in the options; -1, libcudf's word for no limit, if it is missing."""
    most = call.options[name]
    return -1 if most is None else max(most, -1)


def string_scalar(value: str) -> Any:
    return op.scalar(value, pa.string())


def _ascii_mask(value: Any) -> Any:
    attributes = _strings.attributes
    return op.binary("EQUAL", attributes.count_bytes(value), attributes.count_characters(value))


def all_ascii(value: Any) -> bool:
    data = value.data()
    if data is not None and not value.offset() and 0 < data.size <= _INT32_MAX:
        # The bytes, with those of nulls, are not negative.
        whole = plc.Column(_INT8, data.size, data, None, 0, 0, [])
        if op.reduced(whole, plc.aggregation.min()).to_py() >= 0:
            return True
    return op.is_everywhere(_ascii_mask(value))


def need_ascii(call: Call) -> Any:
    """The strings of a function that counts bytes where libcudf counts characters."""
    call.need(all_ascii(call.value), "not with characters beyond ASCII")
    return call.value


@kernel("string")
def string_is_ascii(call: Call) -> Any:
    return _ascii_mask(call.value)


@lru_cache(maxsize=2)
def _whitespace_characters(function: str) -> str:
    """All characters that pyarrow takes for whitespace, as one string."""
    last = 128 if function.startswith("ascii") else 0x3001
    characters = pa.array([chr(code) for code in range(last)])
    is_space = getattr(pc, f"{function.partition('_')[0]}_is_space")(characters)
    return "".join(characters.filter(is_space).to_pylist())


_SIDES = {"": "BOTH", "l": "LEFT", "r": "RIGHT"}
_TRIMS = {f"{of}_{side}trim": _SIDES[side] for of in ("utf8", "ascii") for side in _SIDES}


@kernel("string", **_TRIMS)
@kernel("string", **{f"{name}_whitespace": side for name, side in _TRIMS.items()})
def trim(call: Call, side: str) -> Any:
    if call.name.endswith("whitespace"):
        characters = string_scalar(_whitespace_characters(call.name))
    else:
        wanted = call.options["characters"]
        call.need(call.name.startswith("utf8") or wanted.isascii(), "not by such characters")
        if not wanted:
            return call.value
        characters = string_scalar(wanted)
    return _strings.strip.strip(call.value, getattr(_Side, side), characters)


@kernel("string", utf8_lpad="LEFT", utf8_rpad="RIGHT", ascii_lpad="LEFT", ascii_rpad="RIGHT")
def pad(call: Call, side: str) -> Any:
    value, width, padding = _padded(call)
    return _strings.padding.pad(value, width, getattr(_Side, side), padding)


def _padded(call: Call) -> tuple[Any, int, str]:
    width, padding = call.options["width"], call.options["padding"]
    value = call.value if call.name.startswith("utf8") else need_ascii(call)
    is_one = len(padding) == 1 and (padding.isascii() or call.name.startswith("utf8"))
    call.need(0 <= width < _INT32_MAX and is_one, "not to such a width, or by such a string")
    return value, width, padding


@kernel("string", utf8_center=(), ascii_center=())
def center(call: Call) -> Any:
    value, width, padding = _padded(call)
    # libcudf puts an odd character before the string if the width is odd.
    is_mirrored = call.options["lean_left_on_odd_padding"] == bool(width % 2)
    value = _strings.reverse.reverse(value) if is_mirrored else value
    found = _strings.padding.pad(value, width, _Side.BOTH, padding)
    return _strings.reverse.reverse(found) if is_mirrored else found


@kernel("string", utf8_reverse=(), ascii_reverse=())
def reverse(call: Call) -> Any:
    value = call.value
    if call.name.startswith("ascii") and not all_ascii(value):
        raise pa.ArrowInvalid("Non-ASCII sequence in input")
    return _strings.reverse.reverse(value)


def _searched(call: Call) -> tuple[Any, str]:
    """The strings and the pattern, in lower case if the case does not matter."""
    pattern = str(call.options["pattern"])
    if not call.options.get("ignore_case"):
        return call.value, pattern
    # Beyond ASCII, pyarrow takes several characters for one.
    call.need(pattern.isascii(), "not without regard to case of such characters")
    return _strings.case.to_lower(need_ascii(call)), pattern.lower()


@kernel("string", match_substring="contains", starts_with="starts_with", ends_with="ends_with")
def match_literal(call: Call, name: str) -> Any:
    value, pattern = _searched(call)
    return getattr(_strings.find, name)(value, string_scalar(pattern))


#: Where the case matters, pyarrow searches what is between percent signs, also a backslash.
_LIKE_LITERALS = {
    "contains": re.compile(r"%+([^%_]*[^\\%_])?%+", re.DOTALL),
    "starts_with": re.compile(r"([^%_]*[^\\%_])?%+", re.DOTALL),
    "ends_with": re.compile(r"%+([^%_]*)", re.DOTALL),
}
#: In others, libcudf takes NUL and two backslashes for something else in long strings.
_LIKE_ESCAPES = re.compile(r"([^\\\0]|\\[^\\\0])*", re.DOTALL)


@kernel("string")
def match_like(call: Call) -> Any:
    value, pattern = _searched(call)
    for name, form in _LIKE_LITERALS.items():
        literal = form.fullmatch(pattern)
        if literal and not call.options["ignore_case"]:
            return getattr(_strings.find, name)(value, string_scalar(literal[1] or ""))
    call.need(_LIKE_ESCAPES.fullmatch(pattern), "not with such escapes, or with NUL")
    return _strings.contains.like(value, pattern, "\\")


@kernel("string")
def find_substring(call: Call) -> Any:
    value, pattern = _searched(call)
    if not pattern:
        lengths = _strings.attributes.count_bytes(value)
        return op.cast(op.binary("SUB", lengths, lengths, op.INT32), cudf_type(call.type))
    found = _strings.find.find(value, string_scalar(pattern))
    if not all_ascii(value):
        found = op.choose(_is_negative(found), found, _bytes_before(value, found))
    return op.cast(found, cudf_type(call.type))


def _is_negative(numbers: Any) -> Any:
    return op.binary("LESS", numbers, op.scalar(0, pa.int32()))


def _bytes_before(value: Any, places: Any) -> Any:
    """How many bytes the characters before a place have."""
    zero = op.scalar(0, pa.int32())
    ends = op.filled(op.choose(_is_negative(places), zero, places), zero)
    starts = op.column_of(zero, value.size())
    return _strings.attributes.count_bytes(_strings.slice.slice_strings(value, starts, ends))


@kernel("string")
def count_substring(call: Call) -> Any:
    value, pattern = _searched(call)
    count_bytes = _strings.attributes.count_bytes
    if not pattern:
        found = op.binary("ADD", count_bytes(value), op.scalar(1, pa.int32()), op.INT32)
    elif "\0" in pattern:
        rest = _strings.replace.replace(value, string_scalar(pattern), string_scalar(""), -1)
        removed = op.binary("SUB", count_bytes(value), count_bytes(rest), op.INT32)
        found = op.binary("DIV", removed, op.scalar(len(pattern.encode()), pa.int32()), op.INT32)
    else:
        literal = "".join(f"\\{it}" if it in ".^$*+?()[]{}|\\" else it for it in pattern)
        found = _strings.contains.count_re(value, op.regex(literal))
    return op.cast(found, cudf_type(call.type))


#: Regular expressions that pyarrow and libcudf match alike: letters, digits, spaces, some signs
#: and sets of these, each possibly repeated, after an optional `^`.
_PORTABLE_UNIT = r"(?:[A-Za-z0-9 _,;:@#%&=<>~\"'!/]|\[(?:[A-Za-z0-9](?:-[A-Za-z0-9])?)+\])"
_PORTABLE = re.compile(rf"\^?(?:{_PORTABLE_UNIT}[*+?]?)+")
_RANGE = re.compile(".-.")


def _plain_pattern(call: Call) -> str:
    call.need(not call.options.get("ignore_case"), "not without regard to case")
    return str(call.options["pattern"])


def _portable_pattern(call: Call) -> str:
    pattern = _plain_pattern(call)
    is_portable = _PORTABLE.fullmatch(pattern) and all(
        it[0] <= it[2] for it in _RANGE.findall(pattern)
    )
    call.need(is_portable, "not with such a regular expression")
    return pattern


@kernel("string")
def match_substring_regex(call: Call) -> Any:
    pattern, ignores_case = str(call.options["pattern"]), call.options["ignore_case"]
    pc.match_substring_regex("", pattern, ignore_case=ignores_case)  # which raises for wrong ones
    if ignores_case:
        # Beyond ASCII, pyarrow takes several characters for one.
        call.need(pattern.isascii(), "not without regard to case of such characters")
        need_ascii(call)
    return op.matches(call.value, Translation(pattern, ignores_case=ignores_case).result())


@kernel("string")
def replace_substring(call: Call) -> Any:
    pattern = _plain_pattern(call)
    call.need(pattern, "not of the empty string")
    texts = string_scalar(pattern), string_scalar(call.options["replacement"])
    return _strings.replace.replace(call.value, *texts, _limit(call, "max_replacements"))


@kernel("string")
def replace_substring_regex(call: Call) -> Any:
    regex, options = op.regex(_portable_pattern(call)), call.options
    # libcudf replaces empty matches in other places.
    call.need(not re.search(r"[*?]|^\^", options["pattern"]), "not with such a regular expression")
    call.need("\\" not in options["replacement"], "not with parts of the match")
    replacement, most = string_scalar(options["replacement"]), _limit(call, "max_replacements")
    return _strings.replace_re.replace_re(call.value, regex, replacement, most)


@kernel("string")
def split_pattern(call: Call) -> Any:
    pattern = _plain_pattern(call)
    if not pattern:
        raise pa.ArrowInvalid("Empty separator")
    return _split(call, "split_record", string_scalar(pattern))


def _split(call: Call, name: str, separator: Any) -> Any:
    most = _limit(call, "max_splits")
    call.need(most != 0, "not without a split")
    call.need(call.value.null_count() < call.rows, "not with nulls only")
    name = f"r{name}" if call.options["reverse"] else name
    return getattr(_strings.split.split, name)(call.value, separator, most)


@kernel("string", utf8_split_whitespace=(), ascii_split_whitespace=())
def split_whitespace(call: Call) -> Any:
    runs = op.regex(f"[{_whitespace_characters(call.name)}]+")
    return _split(call, "split_record_re", runs)


@kernel("string")
def utf8_slice_codeunits(call: Call) -> Any:
    start, stop, step = (call.options[name] for name in ("start", "stop", "step"))
    stop = None if stop is None or stop >= _INT32_MAX else stop
    is_forwards = step == 1 and 0 <= start < _INT32_MAX and (stop is None or stop >= 0)
    call.need(is_forwards, "not backwards, or behind such a number")
    bounds = [op.scalar(bound, pa.int32()) for bound in (start, stop, step)]
    return _strings.slice.slice_strings(call.value, *bounds)


@kernel("string")
def utf8_replace_slice(call: Call) -> Any:
    start, stop = call.options["start"], call.options["stop"]
    call.need(0 <= start <= stop < _INT32_MAX, "not backwards")
    text = string_scalar(call.options["replacement"])
    return _strings.replace.replace_slice(call.value, text, start, stop)


#: Rules for nulls, by pyarrow's numbers: they make the result null, or are left out.
_EMIT, _SKIP = 0, 1


@kernel("string")
def binary_join_element_wise(call: Call) -> Any:
    *parts, separator = call.values
    call.need(isinstance(separator, plc.Scalar), "not by several separators")
    call.need(separator.is_valid() and len(parts) > 0, "not without a separator")
    handling = call.options["null_handling"]
    has_values = any(
        it.is_valid() if isinstance(it, plc.Scalar) else not it.null_count() for it in parts
    )
    call.need(handling != _SKIP or has_values, "not with rows of nulls, which pyarrow leaves out")
    separator_on_nulls = _strings.combine.SeparatorOnNulls
    replacement = {_EMIT: None, _SKIP: ""}.get(handling, call.options["null_replacement"])
    return _strings.combine.concatenate(
        plc.Table([op.column_of(part, call.rows) for part in parts]),
        separator,
        op.scalar(replacement, pa.string()),
        None,
        separator_on_nulls.NO if handling == _SKIP else separator_on_nulls.YES,
    )


@kernel("list", "string")
def binary_join(call: Call) -> Any:
    lists, separator = call.values
    call.need(pa.types.is_string(call.given.value_type), "not of such lists")
    is_one = isinstance(separator, plc.Scalar) and separator.is_valid()
    call.need(is_one, "not by several separators")
    combine = _strings.combine
    nothing = op.scalar(None, pa.string())
    return combine.join_list_elements(
        lists,
        separator,
        nothing,
        nothing,
        combine.SeparatorOnNulls.YES,
        combine.OutputIfEmptyList.EMPTY_STRING,
    )
