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

_strings = plc.strings
_Side = _strings.side_type.SideType
_INT32_MAX = 2**31 - 1
_INT8 = plc.DataType(plc.TypeId.INT8)


def _limit(call: Call, name: str) -> int:
    """A number in the options; -1, libcudf's word for no limit, if it is missing."""
    most = call.options[name]
    return -1 if most is None else max(most, -1)


def _string_scalar(value: str) -> Any:
    return op.scalar(value, pa.string())


def _ascii_mask(value: Any) -> Any:
    attributes = _strings.attributes
    return op.binary("EQUAL", attributes.count_bytes(value), attributes.count_characters(value))


def _all_ascii(value: Any) -> bool:
    data = value.data()
    if data is not None and not value.offset() and 0 < data.size <= _INT32_MAX:
        # The bytes, with those of nulls, are not negative.
        whole = plc.Column(_INT8, data.size, data, None, 0, 0, [])
        if op.reduced(whole, plc.aggregation.min()).to_py() >= 0:
            return True
    return op.is_everywhere(_ascii_mask(value))


def _need_ascii(call: Call) -> Any:
    """The strings of a function that counts bytes where libcudf counts characters."""
    call.need(_all_ascii(call.value), "not with characters beyond ASCII")
    return call.value


@kernel("string")
def string_is_ascii(call: Call) -> Any:
    return _ascii_mask(call.value)


_CASES = {
    "upper": _strings.case.to_upper,
    "lower": _strings.case.to_lower,
    "swapcase": _strings.case.swapcase,
    "capitalize": _strings.capitalize.capitalize,
    "title": _strings.capitalize.title,
}


@kernel("string", **{f"{of}_{case}": case for of in ("utf8", "ascii") for case in _CASES})
def change_case(call: Call, name: str) -> Any:
    # The tables of Unicode differ beyond ASCII.
    return _CASES[name](_need_ascii(call))


@lru_cache(maxsize=2)
def _whitespace_characters(function: str) -> str:
    """All characters that pyarrow takes for whitespace, as one string."""
    last = 128 if function.startswith("ascii") else 0x3001
    characters = pa.array([chr(code) for code in range(last)])
    is_space = getattr(pc, f"{function.partition('_')[0]}_is_space")(characters)
    return "".join(characters.filter(is_space).to_pylist())


def _whitespace_scalar(function: str) -> Any:
    return _string_scalar(_whitespace_characters(function))


_SIDES = {"": "BOTH", "l": "LEFT", "r": "RIGHT"}
_TRIMS = {f"{of}_{side}trim": _SIDES[side] for of in ("utf8", "ascii") for side in _SIDES}


@kernel("string", **_TRIMS)
@kernel("string", **{f"{name}_whitespace": side for name, side in _TRIMS.items()})
def trim(call: Call, side: str) -> Any:
    if call.name.endswith("whitespace"):
        characters = _whitespace_scalar(call.name)
    else:
        wanted = call.options["characters"]
        call.need(call.name.startswith("utf8") or wanted.isascii(), "not by such characters")
        if not wanted:
            return call.value
        characters = _string_scalar(wanted)
    return _strings.strip.strip(call.value, getattr(_Side, side), characters)


@kernel("string", utf8_lpad="LEFT", utf8_rpad="RIGHT", ascii_lpad="LEFT", ascii_rpad="RIGHT")
def pad(call: Call, side: str) -> Any:
    width, padding = call.options["width"], call.options["padding"]
    value = call.value if call.name.startswith("utf8") else _need_ascii(call)
    is_one = len(padding) == 1 and (padding.isascii() or call.name.startswith("utf8"))
    call.need(0 <= width < _INT32_MAX and is_one, "not to such a width, or by such a string")
    return _strings.padding.pad(value, width, getattr(_Side, side), padding)


@kernel("string", utf8_reverse=(), ascii_reverse=())
def reverse(call: Call) -> Any:
    value = call.value
    if call.name.startswith("ascii") and not _all_ascii(value):
        raise pa.ArrowInvalid("Non-ASCII sequence in input")
    return _strings.reverse.reverse(value)


def _pattern(call: Call) -> str:
    call.need(not call.options.get("ignore_case"), "not without regard to case")
    return str(call.options["pattern"])


@kernel("string", match_substring="contains", starts_with="starts_with", ends_with="ends_with")
def match_literal(call: Call, name: str) -> Any:
    return getattr(_strings.find, name)(call.value, _string_scalar(_pattern(call)))


@kernel("string")
def match_like(call: Call) -> Any:
    pattern = _pattern(call)
    call.need(not {"\\", "\0"} & {*pattern}, "not with escapes")
    return _strings.contains.like(call.value, pattern, None)


@kernel("string")
def find_substring(call: Call) -> Any:
    pattern = _pattern(call)
    call.need(pattern, "not of the empty string")
    found = _strings.find.find(_need_ascii(call), _string_scalar(pattern))
    return op.cast(found, cudf_type(call.type))


@kernel("string")
def count_substring(call: Call) -> Any:
    pattern = _pattern(call)
    call.need(pattern and "\0" not in pattern, "not of the empty string, or with NUL")
    literal = "".join(f"\\{each}" if each in ".^$*+?()[]{}|\\" else each for each in pattern)
    found = _strings.contains.count_re(call.value, op.regex(literal))
    return op.cast(found, cudf_type(call.type))


#: Regular expressions that pyarrow and libcudf match alike: letters, digits, spaces, some signs
#: and sets of these, each possibly repeated, after an optional `^`.
_PORTABLE_UNIT = r"(?:[A-Za-z0-9 _,;:@#%&=<>~\"'!/]|\[(?:[A-Za-z0-9](?:-[A-Za-z0-9])?)+\])"
_PORTABLE = re.compile(rf"\^?(?:{_PORTABLE_UNIT}[*+?]?)+")
_RANGE = re.compile(".-.")


def _portable_pattern(call: Call) -> str:
    pattern = _pattern(call)
    is_portable = _PORTABLE.fullmatch(pattern) and all(
        it[0] <= it[2] for it in _RANGE.findall(pattern)
    )
    call.need(is_portable, "not with such a regular expression")
    return pattern


@kernel("string")
def match_substring_regex(call: Call) -> Any:
    return op.matches(call.value, _portable_pattern(call))


@kernel("string")
def replace_substring(call: Call) -> Any:
    pattern = _pattern(call)
    call.need(pattern, "not of the empty string")
    texts = _string_scalar(pattern), _string_scalar(call.options["replacement"])
    return _strings.replace.replace(call.value, *texts, _limit(call, "max_replacements"))


@kernel("string")
def replace_substring_regex(call: Call) -> Any:
    regex, options = op.regex(_portable_pattern(call)), call.options
    # libcudf replaces empty matches in other places.
    call.need(not re.search(r"[*?]|^\^", options["pattern"]), "not with such a regular expression")
    call.need("\\" not in options["replacement"], "not with parts of the match")
    replacement, most = _string_scalar(options["replacement"]), _limit(call, "max_replacements")
    return _strings.replace_re.replace_re(call.value, regex, replacement, most)


@kernel("string")
def split_pattern(call: Call) -> Any:
    pattern, most = _pattern(call), _limit(call, "max_splits")
    call.need(pattern, "not by the empty string")
    call.need(most != 0, "not without a split")
    call.need(call.value.null_count() < call.rows, "not with nulls only")
    split = _strings.split.split
    split_record = split.rsplit_record if call.options["reverse"] else split.split_record
    return split_record(call.value, _string_scalar(pattern), most)


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
    text = _string_scalar(call.options["replacement"])
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


#: By name, in ASCII: what strings must not have anywhere, and what somewhere.
_CHARACTER_CLASSES = {
    "alpha": ("[^A-Za-z]", "[A-Za-z]"),
    "alnum": ("[^A-Za-z0-9]", "[A-Za-z0-9]"),
    "decimal": ("[^0-9]", "[0-9]"),
    "upper": ("[a-z]", "[A-Z]"),
    "lower": ("[A-Z]", "[a-z]"),
    "space": ("[^ \t\n\v\f\r]", "[ \t\n\v\f\r]"),
}


@kernel(
    "string", **{f"{of}_is_{name}": name for of in ("utf8", "ascii") for name in _CHARACTER_CLASSES}
)
def is_in_class(call: Call, name: str) -> Any:
    forbidden, required = _CHARACTER_CLASSES[name]
    value = call.value if call.name.startswith("ascii") else _need_ascii(call)
    if call.name == "utf8_is_space":
        forbidden, required = (it.replace("\r", "\r\x1c-\x1f") for it in (forbidden, required))
    has_no_other = op.invert(op.matches(value, forbidden))
    return op.binary("LOGICAL_AND", has_no_other, op.matches(value, required))


@kernel("string")
def ascii_is_printable(call: Call) -> Any:
    return op.invert(op.matches(call.value, "[^ -~]"))
