"""The gate back from libcudf: each result has the layout of its type, or the call raises.

libcudf may return strings with 64-bit offsets; pyarrow's ``string`` has 32-bit ones.  Offsets that
fit are narrowed, and those of ``large_string`` are widened.  A larger result is split into chunks
where the caller takes a chunked array, and raises pyarrow's error elsewhere.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pylibcudf as plc  # type: ignore[import-not-found,unused-ignore]

from .refusals import need
from .types import form_of, storage_of

MOST_BYTES = 2**31 - 1
_INT32, _INT64 = (plc.DataType(it) for it in (plc.TypeId.INT32, plc.TypeId.INT64))
_LONG = ("large_string", "large_binary")
VIEWS = plc.DataType(plc.TypeId.DECIMAL128, 0)
_LIST, _STRUCT = plc.TypeId.LIST, plc.TypeId.STRUCT


class _TooLong(pa.ArrowInvalid):  # type: ignore[misc]
    """Strings have more bytes than offsets of 32 bits count."""


def conforming(column: Any, kind: pa.DataType) -> Any:
    """The column, with the layout of a type.

    Raises
    ------
    ArrowInvalid
        If its strings are too long for one array.
    NotCovered
        If it is of another type.
    """
    form, kind = form_of(kind), storage_of(kind)
    if form.has_parts:
        return _of_parts(column, kind, form.kind != "struct")
    # libcudf has strings for views, and makes none: rows of views are rows of their bits.
    _need_type(column.type() == (VIEWS if form.kind == "view" else form.cudf), kind)
    if form.kind in _LONG:
        return _with_long_offsets(column)
    return _with_short_offsets(column) if form.kind in ("string", "binary") else column


def _of_parts(column: Any, kind: pa.DataType, is_list: bool) -> Any:
    is_same = column.type().id() == (_LIST if is_list else _STRUCT)
    children = column.children() if is_same else []
    parts = [kind.field(place).type for place in range(kind.num_fields)]
    values = children[1:] if is_list else children  # a list's first child has its offsets
    _need_type(is_same and len(values) == len(parts), kind)
    conform = [conforming(*each) for each in zip(values, parts, strict=True)]
    if all(one is other for one, other in zip(conform, values, strict=True)):
        return column
    return _with_children(column, [*children[:is_list], *conform])


def one_piece(column: Any, kind: pa.DataType) -> list[Any]:
    return [conforming(column, kind)]


def pieces(column: Any, kind: pa.DataType) -> list[Any]:
    """The column with the layout of a type, in as many pieces as its strings need."""
    try:
        return [conforming(column, kind)]
    except _TooLong:
        rows = column.size()
        if rows < 2:
            raise
    halves = plc.copying.slice(column, [0, rows // 2, rows // 2, rows])
    return [piece for half in halves for piece in pieces(half.copy(), kind)]


def _need_type(condition: bool, kind: pa.DataType) -> None:
    need(condition, f"libcudf's result is not of type {kind}")


def _with_short_offsets(column: Any) -> Any:
    if not column.num_children():  # without rows
        return column
    offsets = column.child(0)
    if offsets.type() == _INT32:
        return column
    size = plc.copying.get_element(offsets, column.offset() + column.size()).to_py()
    if size > MOST_BYTES:
        raise _TooLong(
            f"array cannot contain more than {MOST_BYTES} bytes, have {size}: call the function on "
            "a chunked array or a table, whose results may have chunks, or on slices"
        )
    return _with_children(column, [plc.unary.cast(offsets, _INT32)])


def _with_long_offsets(column: Any) -> Any:
    if not column.num_children() or column.child(0).type() == _INT64:
        return column
    return _with_children(column, [plc.unary.cast(column.child(0), _INT64)])


def _with_children(column: Any, children: list[Any]) -> Any:
    return plc.Column(
        column.type(),
        column.size(),
        column.data(),
        column.null_mask(),
        column.null_count(),
        column.offset(),
        children,
    )
