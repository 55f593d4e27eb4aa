"""Which types of pyarrow libcudf has, and what it needs of their memory.

The *kind* of a type is its group, which kernels name together.  Its *form* is what a conversion
needs: the kind, libcudf's type, the most rows, and the alignment and size of each buffer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import pyarrow as pa
import pylibcudf as plc  # type: ignore[import-not-found,unused-ignore]

from .caches import of_flat_types
from .refusals import need

_is = pa.types
#: The name of each kind, and whether a type is of it.
_KINDS: dict[str, Callable[[Any], bool]] = {
    "bool": _is.is_boolean,
    "int": _is.is_integer,
    "float": lambda it: _is.is_float32(it) or _is.is_float64(it),
    "decimal": _is.is_decimal128,
    "string": _is.is_string,
    "date": _is.is_date32,
    "time": _is.is_timestamp,
    "duration": _is.is_duration,
    "list": lambda it: _is.is_list(it) and _has_kinds([it.value_type]),
    "struct": lambda it: _is.is_struct(it) and _has_kinds([each.type for each in it]),
    "dictionary": lambda it: _is.is_dictionary(it) and _has_kinds([it.value_type]),
}


NUMBERS = "int float"
TIMES = "date time duration"
#: The kinds whose types have no parts.
SIMPLE = f"bool {NUMBERS} decimal string {TIMES}"
ANY = f"{SIMPLE} list struct"


def _has_kinds(types: list[pa.DataType]) -> bool:
    return bool(types) and all(kind_of(each) in ANY.split() for each in types)


@of_flat_types
def kind_of(kind: pa.DataType) -> str:
    """The kind of a type; ``other`` if libcudf has no such type."""
    return next((name for name, check in _KINDS.items() if check(kind)), "other")


@of_flat_types
def cudf_type(kind: pa.DataType) -> Any:
    """libcudf's type for a type of pyarrow that has a kind."""
    return plc.DataType.from_arrow(pa.timestamp(kind.unit) if _is.is_timestamp(kind) else kind)


#: The most rows of a libcudf column, which numbers them with 32 bits.
MOST_ROWS = 2**31 - 1
#: libcudf reads bitmaps in words of this many bytes; pyarrow's booleans are bitmaps, too.
_WORD = 4


class Form(NamedTuple):
    #: The kind of the type.
    kind: str
    #: libcudf's type; None if there are parts.
    cudf: Any
    most_rows: int
    #: For each of `Array.buffers`: a divisor of its address, and its size if it has as many rows.
    buffers: tuple[tuple[int, int], ...]
    has_parts: bool


@of_flat_types
def form_of(kind: pa.DataType) -> Form:
    """The form of the arrays of a type that has a kind."""
    name = kind_of(kind)
    need(name != "other", f"not with data of type {kind}")
    # There is one offset more than there are rows.
    most_rows = MOST_ROWS - (name in ("string", "list"))
    has_parts = name in ("list", "struct")
    cudf = None if has_parts or name == "dictionary" else cudf_type(kind)
    return Form(name, cudf, most_rows, tuple(_buffers_of(kind)), has_parts)


def _buffers_of(kind: pa.DataType) -> list[tuple[int, int]]:
    bits, characters = (_WORD, MOST_ROWS // 8 + _WORD), (1, 2**63)
    if _is.is_dictionary(kind):
        return _buffers_of(kind.index_type)
    if _is.is_struct(kind):
        own = [bits]
    elif _is.is_list(kind):
        own = [bits, _numbers(4)]
    elif _is.is_string(kind):
        own = [bits, _numbers(4), characters]
    else:
        own = [bits, bits if _is.is_boolean(kind) else _numbers(kind.bit_width // 8)]
    parts = [kind.field(place).type for place in range(kind.num_fields)]
    return sum(map(_buffers_of, parts), own)


def _numbers(width: int) -> tuple[int, int]:
    return width, width * MOST_ROWS
