"""What libcudf needs of the memory of an Arrow type: alignment and the most rows."""

from __future__ import annotations

from typing import Any, NamedTuple

import pyarrow as pa

from .caches import of_flat_types
from .kinds import cudf_type, kind_of
from .refusals import need

_is = pa.types
#: The most rows of a libcudf column, which numbers them with 32 bits.
MOST_ROWS = 2**31 - 1
#: libcudf reads bitmaps, which pyarrow's booleans are, too, in words of so many bytes.
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
