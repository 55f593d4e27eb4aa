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
from ..kinds import cudf_type
from ..registry import rows

_strings = plc.strings
_Side = _strings.side_type.SideType
_LARGEST = 2**31 - 1
_INT8 = plc.DataType(plc.TypeId.INT8)


def _most(call: Call, name: str) -> int:
    """A number in the options; -1, libcudf's word for no limit, if it is missing."""
    most = call.options[name]
    return -1 if most is None else max(most, -1)


def _text(value: str) -> Any:
    return op.scalar(value, pa.string())


def _is_ascii(value: Any) -> Any:
    attributes = _strings.attributes
    return op.binary("EQUAL", attributes.count_bytes(value), attributes.count_characters(value))


def _are_ascii(value: Any) -> bool:
    data = value.data()
    if data is not None and not value.offset() and 0 < data.size <= _LARGEST:
        # The bytes, with those of nulls, are not negative.
        whole = plc.Column(_INT8, data.size, data, None, 0, 0, [])
        if op.reduced(whole, plc.aggregation.min()).to_py() >= 0:
            return True
    return op.is_everywhere(_is_ascii(value))


def _need_ascii(call: Call) -> Any:
    """The strings of a function that counts bytes where libcudf counts characters."""
    call.need(_are_ascii(call.value), "not with characters beyond ASCII")
    return call.value


@rows("string")
def string_is_ascii(call: Call) -> Any:
    return _is_ascii(call.value)


_CASES = {
    "upper": _strings.case.to_upper,
    "lower": _strings.case.to_lower,
    "swapcase": _strings.case.swapcase,
    "capitalize": _strings.capitalize.capitalize,
    "title": _strings.capitalize.title,
}


@rows("string", **{f"{of}_{case}": case for of in ("utf8", "ascii") for case in _CASES})
def case(call: Call, name: str) -> Any:
    # The tables of Unicode differ beyond ASCII.
    return _CASES[name](_need_ascii(call))


@lru_cache(maxsize=2)
def _characters(function: str) -> str:
    """Those that pyarrow takes for whitespace."""
    last = 128 if function.startswith("ascii") else 0x3001
    characters = pa.array([chr(code) for code in range(last)])
    is_space = getattr(pc, f"{function.partition('_')[0]}_is_space")(characters)
    return "".join(characters.filter(is_space).to_pylist())


def _whitespace(function: str) -> Any:
    return _text(_characters(function))


_SIDES = {"": "BOTH", "l": "LEFT", "r": "RIGHT"}
_TRIMS = {f"{of}_{side}trim": _SIDES[side] for of in ("utf8", "ascii") for side in _SIDES}


@rows("string", **_TRIMS)
@rows("string", **{f"{name}_whitespace": side for name, side in _TRIMS.items()})
def trim(call: Call, side: str) -> Any:
    if call.name.endswith("whitespace"):
        characters = _whitespace(call.name)
    else:
        wanted = call.options["characters"]
        call.need(call.name.startswith("utf8") or wanted.isascii(), "not by such characters")
        if not wanted:
            return call.value
        characters = _text(wanted)
    return _strings.strip.strip(call.value, getattr(_Side, side), characters)


@rows("string", utf8_lpad="LEFT", utf8_rpad="RIGHT", ascii_lpad="LEFT", ascii_rpad="RIGHT")
def pad(call: Call, side: str) -> Any:
    width, padding = call.options["width"], call.options["padding"]
    value = call.value if call.name.startswith("utf8") else _need_ascii(call)
    is_one = len(padding) == 1 and (padding.isascii() or call.name.startswith("utf8"))
    call.need(0 <= width < _LARGEST and is_one, "not to such a width, or by such a string")
    return _strings.padding.pad(value, width, getattr(_Side, side), padding)


@rows("string", utf8_reverse=(), ascii_reverse=())
def reverse(call: Call) -> Any:
    value = call.value
    if call.name.startswith("ascii") and not _are_ascii(value):
        raise pa.ArrowInvalid("Non-ASCII sequence in input")
    return _strings.reverse.reverse(value)


def _pattern(call: Call) -> str:
    call.need(not call.options.get("ignore_case"), "not without regard to case")
    return str(call.options["pattern"])


@rows("string", match_substring="contains", starts_with="starts_with", ends_with="ends_with")
def match(call: Call, name: str) -> Any:
    return getattr(_strings.find, name)(call.value, _text(_pattern(call)))


@rows("string")
def match_like(call: Call) -> Any:
    pattern = _pattern(call)
    call.need(not {"\\", "\0"} & {*pattern}, "not with escapes")
    return _strings.contains.like(call.value, pattern, None)


@rows("string")
def find_substring(call: Call) -> Any:
    pattern = _pattern(call)
    call.need(pattern, "not of the empty string")
    found = _strings.find.find(_need_ascii(call), _text(pattern))
    return op.cast(found, cudf_type(call.type))


@rows("string")
def count_substring(call: Call) -> Any:
    pattern = _pattern(call)
    call.need(pattern and "\0" not in pattern, "not of the empty string, or with NUL")
    literal = "".join(f"\\{each}" if each in ".^$*+?()[]{}|\\" else each for each in pattern)
    found = _strings.contains.count_re(call.value, op.regex(literal))
    return op.cast(found, cudf_type(call.type))


#: Both engines of regular expressions read these in the same way: letters, digits, spaces, some
#: signs, sets of these, each possibly repeated, and the start.
_ONE = r"(?:[A-Za-z0-9 _,;:@#%&=<>~\"'!/]|\[(?:[A-Za-z0-9](?:-[A-Za-z0-9])?)+\])"
_PLAIN = re.compile(rf"\^?(?:{_ONE}[*+?]?)+")
_RANGE = re.compile(".-.")


def _plain_pattern(call: Call) -> str:
    pattern = _pattern(call)
    is_plain = _PLAIN.fullmatch(pattern) and all(it[0] <= it[2] for it in _RANGE.findall(pattern))
    call.need(is_plain, "not with such a regular expression")
    return pattern


@rows("string")
def match_substring_regex(call: Call) -> Any:
    return op.matches(call.value, _plain_pattern(call))


@rows("string")
def replace_substring(call: Call) -> Any:
    pattern = _pattern(call)
    call.need(pattern, "not of the empty string")
    texts = _text(pattern), _text(call.options["replacement"])
    return _strings.replace.replace(call.value, *texts, _most(call, "max_replacements"))


@rows("string")
def replace_substring_regex(call: Call) -> Any:
    regex, options = op.regex(_plain_pattern(call)), call.options
    # libcudf replaces empty matches in other places.
    call.need(not re.search(r"[*?]|^\^", options["pattern"]), "not with such a regular expression")
    call.need("\\" not in options["replacement"], "not with parts of the match")
    replacement, most = _text(options["replacement"]), _most(call, "max_replacements")
    return _strings.replace_re.replace_re(call.value, regex, replacement, most)


@rows("string")
def split_pattern(call: Call) -> Any:
    pattern, most = _pattern(call), _most(call, "max_splits")
    call.need(pattern, "not by the empty string")
    call.need(most != 0, "not without a split")
    call.need(call.value.null_count() < call.rows, "not with nulls only")
    split = _strings.split.split
    divide = split.rsplit_record if call.options["reverse"] else split.split_record
    return divide(call.value, _text(pattern), most)


@rows("string")
def utf8_slice_codeunits(call: Call) -> Any:
    start, stop, step = (call.options[name] for name in ("start", "stop", "step"))
    stop = None if stop is None or stop >= _LARGEST else stop
    is_forwards = step == 1 and 0 <= start < _LARGEST and (stop is None or stop >= 0)
    call.need(is_forwards, "not backwards, or behind such a number")
    bounds = [op.scalar(bound, pa.int32()) for bound in (start, stop, step)]
    return _strings.slice.slice_strings(call.value, *bounds)


@rows("string")
def utf8_replace_slice(call: Call) -> Any:
    start, stop = call.options["start"], call.options["stop"]
    call.need(0 <= start <= stop < _LARGEST, "not backwards")
    text = _text(call.options["replacement"])
    return _strings.replace.replace_slice(call.value, text, start, stop)


#: Rules for nulls, by pyarrow's numbers: they make the result null, or are left out.
_EMIT, _SKIP = 0, 1


@rows("string")
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


@rows("list", "string")
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
_CLASSES = {
    "alpha": ("[^A-Za-z]", "[A-Za-z]"),
    "alnum": ("[^A-Za-z0-9]", "[A-Za-z0-9]"),
    "decimal": ("[^0-9]", "[0-9]"),
    "upper": ("[a-z]", "[A-Z]"),
    "lower": ("[A-Z]", "[a-z]"),
    "space": ("[^ \t\n\v\f\r]", "[ \t\n\v\f\r]"),
}


@rows("string", **{f"{of}_is_{name}": name for of in ("utf8", "ascii") for name in _CLASSES})
def is_of(call: Call, name: str) -> Any:
    without, somewhere = _CLASSES[name]
    value = call.value if call.name.startswith("ascii") else _need_ascii(call)
    if call.name == "utf8_is_space":
        without, somewhere = (it.replace("\r", "\r\x1c-\x1f") for it in (without, somewhere))
    has_no_other = op.invert(op.matches(value, without))
    return op.binary("LOGICAL_AND", has_no_other, op.matches(value, somewhere))


@rows("string")
def ascii_is_printable(call: Call) -> Any:
    return op.invert(op.matches(call.value, "[^ -~]"))
