"""Reads expressions.

Expressions have no parts that Python can ask for.  Serialized ones are a file, whose metadata lists
the functions, fields and literals in order, and whose columns are the literals and the options.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, TypeAlias

import pyarrow as pa

from .refusals import NotCovered


class _Schema(ctypes.Structure):
    """The first members of a schema of the C Data interface."""

    _fields_ = (
        ("format", ctypes.c_void_p),
        ("name", ctypes.c_void_p),
        ("metadata", ctypes.c_void_p),
    )


#: A literal, the name of a field, or a call: the name of the function, its arguments, its options.
Part: TypeAlias = pa.Scalar | str | tuple[str, list[Any], bytes]


def serialized(expression: Any) -> bytes:
    _, (buffer, *_) = expression.__reduce__()
    text: bytes = buffer.to_pybytes()
    return text


@lru_cache(maxsize=256)
def parsed(text: bytes) -> Part:
    parts = pa.ipc.open_file(text)
    found: Part = _next(_steps(parts.schema), parts.get_batch(0).columns)[1]
    return found


def fields_of(expression: Any) -> list[str]:
    """The names of the fields in an expression, each once."""
    return list(dict.fromkeys(_fields(parsed(serialized(expression)))))


def _fields(part: Part) -> Iterator[str]:
    if isinstance(part, str):
        yield part
    elif isinstance(part, tuple):
        for argument in part[1]:
            yield from _fields(argument)


def _next(steps: Iterator[tuple[str, str]], columns: Any) -> tuple[str, Any]:
    """The next part, and the kind of step that it came from."""
    kind, text = next(steps)
    if kind == "literal":
        return kind, columns[int(text)][0]
    if kind == "field_ref":
        return kind, text
    if kind == "nested_field_ref":
        raise NotCovered("not with fields within columns")
    if kind == "options":
        return kind, _file_of(columns[int(text)])
    if kind == "end":
        return kind, None
    arguments: list[Part] = []
    options = b""
    while True:
        kind, value = _next(steps, columns)
        if kind == "end":
            return "call", (text, arguments, options)
        if kind == "options":
            options = value
        else:
            arguments.append(value)


def _file_of(options: Any) -> bytes:
    """Options in the form in which each of them is serialized alone."""
    batch = pa.record_batch([options], names=[""])
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, batch.schema) as writer:
        writer.write_batch(batch)
    serialized: bytes = sink.getvalue().to_pybytes()
    return serialized


def _steps(schema: pa.Schema) -> Iterator[tuple[str, str]]:
    """The metadata in order: one key may stand there several times, which a dict would lose."""
    size = 72  # of the structure, of which `_Schema` has the first members
    place = ctypes.create_string_buffer(size)
    schema._export_to_c(ctypes.addressof(place))
    try:
        metadata = _Schema.from_buffer(place).metadata
        offset = 4
        for _ in range(_number(metadata, 0)):
            texts = []
            for _ in ("key", "value"):
                length = _number(metadata, offset)
                texts.append(ctypes.string_at(metadata + offset + 4, length).decode())
                offset += 4 + length
            yield texts[0], texts[1]
    finally:
        pa.Schema._import_from_c(ctypes.addressof(place))  # releases it


def _number(address: int, offset: int) -> int:
    return ctypes.c_int32.from_address(address + offset).value
