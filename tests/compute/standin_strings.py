"""What the stand-in does with strings, row by row in Python."""

from __future__ import annotations

import re
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc


def _like(text: str, pattern: str, escape: str) -> bool:
    parts, characters = [], iter(pattern)
    for each in characters:
        if each == escape:
            parts.append(re.escape(next(characters, each)))
        else:
            parts.append({"%": ".*", "_": "."}.get(each, re.escape(each)))
    return re.fullmatch("".join(parts), text, re.DOTALL) is not None


def _fits(text: str, kind: pa.DataType) -> bool:
    try:
        return pa.array([int(text)], kind) is not None
    except (ValueError, pa.ArrowInvalid, OverflowError):
        return False


def _padded(text: str, width: int, side: str, by: str) -> str:
    count = max(width - len(text), 0)
    right = {"LEFT": 0, "RIGHT": count, "BOTH": count // 2 if width % 2 else count - count // 2}
    return by * (count - right[side]) + text + by * right[side]


def _tokens(text: str, pattern: str, most: int, *, backwards: bool) -> list[str]:
    if not text:
        return [""]
    found = [it.span() for it in re.finditer(pattern, text)]
    if most > 0:
        found = found[-most:] if backwards else found[:most]
    ends = [0, *(it for span in found for it in span), len(text)]
    return [text[start:end] for start, end in zip(ends[::2], ends[1::2], strict=True)]


def install(names: Any, column: Any) -> None:
    """Gives pylibcudf's modules these functions, over the stand-in's columns and scalars."""

    def by_row(function: Callable[..., Any], kind: pa.DataType) -> Callable[..., Any]:
        """For columns, and whatever else is the same for all rows."""

        def called(given: Any, *more: Any) -> Any:
            columns = (_each(it, given.size()) for it in (given, *more))
            rows = zip(*columns, strict=True)
            found = [None if row[0] is None else function(*row) for row in rows]
            return column(pa.array(found, kind))

        return called

    def _each(given: Any, rows: int) -> list[Any]:
        value = getattr(given, "value", given)
        if isinstance(value, pa.Array):
            return list(value.to_pylist())
        return [value.as_py() if isinstance(value, pa.Scalar) else given] * rows

    text, number, flag = pa.string(), pa.int32(), pa.bool_()
    lists = pa.list_(text)
    of = names.strings
    of.regex_program.RegexProgram = SimpleNamespace(create=lambda pattern, flags: pattern)
    of.find.contains = by_row(lambda it, part: part in it, flag)
    of.find.starts_with = by_row(str.startswith, flag)
    # Bytes that are not UTF-8, too.
    of.find.ends_with = lambda it, end: column(
        pc.ends_with(it.value.cast(pa.binary()), end.value.as_py().encode())
    )
    of.find.find = by_row(str.find, number)
    of.contains.like = by_row(_like, flag)
    of.contains.contains_re = by_row(lambda it, by: re.search(by, it) is not None, flag)
    of.contains.count_re = by_row(lambda it, by: len(re.findall(by, it)), number)
    of.replace.replace = by_row(lambda it, part, by, most: it.replace(part, by, most), text)
    convert = of.convert.convert_integers
    convert.is_integer = by_row(lambda it, kind: _fits(it, kind.kind), flag)
    convert.to_integers = lambda it, kind: column(it.value.cast(kind.kind))
    of.convert.convert_booleans.from_booleans = by_row(lambda it, yes, no: yes if it else no, text)
    of.slice.slice_strings = by_row(
        lambda it, start, stop, step=None: it[slice(start, stop, step)], text
    )
    of.reverse.reverse = by_row(lambda it: it[::-1], text)
    of.padding.pad = by_row(lambda it, width, side, by: _padded(it, width, side._name, by), text)
    split = of.split.split
    split.split_record_re = by_row(
        lambda it, by, most: _tokens(it, by, most, backwards=False), lists
    )
    split.rsplit_record_re = by_row(
        lambda it, by, most: _tokens(it, by, most, backwards=True), lists
    )
    of.case.to_upper = lambda it: column(pc.ascii_upper(it.value))
    of.case.to_lower = lambda it: column(pc.ascii_lower(it.value))
    of.case.swapcase = lambda it: column(pc.ascii_swapcase(it.value))
    of.capitalize.capitalize = lambda it: column(pc.ascii_capitalize(it.value))
    of.capitalize.title = lambda it: column(pc.ascii_title(it.value))
    of.translate.translate = lambda it, pairs: by_row(str.translate, text)(it, str.maketrans(pairs))
    of.translate.filter_characters = by_row(
        lambda it, ranges, _, by: "".join(
            each if any(low <= each <= high for low, high in ranges.items()) else by for each in it
        ),
        text,
    )
    of.combine.concatenate = lambda parts, by, *_: column(
        pc.binary_join_element_wise(*(it.value for it in parts.columns()), by.value)
    )
