"""Numbers, times and strings as libcudf's columns, and back, by the addresses of their memory.

This takes a fraction of the time of the C Device interface, by which all other types are passed.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import pyarrow as pa
import pylibcudf as plc  # type: ignore[import-not-found,unused-ignore]

from .. import _native
from .types import BYTES, NUMBERS, ORDERED_TIMES, form_of

#: Kinds of types whose values lie in one buffer, as libcudf has them.
_FLAT = frozenset(f"{NUMBERS} decimal {ORDERED_TIMES} bits".split())
#: By kind of strings: the type of the offsets.
_OFFSETS = {
    kind: plc.DataType(plc.TypeId.INT64 if kind.startswith("large") else plc.TypeId.INT32)
    for kind in BYTES.split()
}
_INT32, _INT64 = (plc.DataType(it) for it in (plc.TypeId.INT32, plc.TypeId.INT64))


class Span(NamedTuple):
    """Memory on a device, by libcudf's names."""

    ptr: int
    size: int
    owner: Any


def span_of(buffer: Any) -> Span | None:
    return None if buffer is None else Span(buffer.address, buffer.size, buffer)


def columns_of(arrays: list[Any]) -> list[Any]:
    """The columns over the memory of arrays, or chunked arrays of one chunk.  None for another
    type, and for memory that libcudf cannot read as it is."""
    return [*map(_column_of, arrays, _native._memory_of(arrays))]


def _column_of(array: Any, memory: Any) -> Any:
    if memory is None:
        return None
    form = form_of(array.type)
    offsets = _OFFSETS.get(form.kind)
    if form.kind not in _FLAT and (offsets is None or not len(array)):
        return None
    first, nulls, buffers = memory
    end = first + len(array)
    for buffer, (divisor, _) in zip(buffers, form.buffers, strict=True):
        if buffer is not None and buffer[0] % divisor and buffer[1]:
            return None
    if end > form.most_rows:
        return None
    mask, *rest = (it and Span(it[0], it[1], array) for it in buffers)
    children = []
    if offsets is not None:
        children = [plc.Column(offsets, end + 1, rest[0], None, 0, 0, [])]
    mask = mask if nulls else None
    return plc.Column(form.cudf, len(array), rest[-1], mask, nulls, first, children)


def large_list_column_of(array: Any, kind: Any, elements: Any) -> Any:
    """The column of large lists, which libcudf lacks: lists whose offsets are shorter."""
    _native._make_ready(array)
    mask, offsets, *_ = map(span_of, array.buffers())
    nulls, end = array.null_count, array.offset + len(array)
    long = plc.Column(_INT64, end + 1, offsets, None, 0, 0, [])
    children = [plc.unary.cast(long, _INT32), elements]
    mask = mask if nulls else None
    return plc.Column(kind, len(array), None, mask, nulls, array.offset, children)


def views_of(array: Any, kind: Any) -> Any:
    """The column of the bits of views, whose characters lie elsewhere."""
    _native._make_ready(array)
    mask, views, *_ = map(span_of, array.buffers())
    nulls = array.null_count
    return plc.Column(kind, len(array), views, mask if nulls else None, nulls, array.offset, [])


def view_array_of(column: Any, like: Any) -> pa.Array:
    """The array of views whose bits a column has, with the characters of another array."""
    nulls = column.null_count()
    own = [_view(column.null_mask()) if nulls else None, _view(column.data())]
    buffers = [*own, *like.buffers()[2:]]
    return pa.Array.from_buffers(like.type, column.size(), buffers, nulls)


def has_memory_of(column: Any, values: list[Any]) -> bool:
    """Whether a column is over memory of other columns, or of their parts."""
    own = set(_addresses(column))
    others = (it for it in values if isinstance(it, plc.Column))
    return any(not own.isdisjoint(_addresses(it)) for it in others)


def _addresses(column: Any) -> list[int]:
    spans = column.data(), column.null_mask()
    found = [span.ptr for span in spans if span is not None and span.ptr]
    for place in range(column.num_children()):
        found += _addresses(column.child(place))
    return found


def memory_of(column: Any, kind: pa.DataType) -> Any:
    """What `_table_over_memory` takes for a column that starts at its first row: the rows, the
    nulls and the memory of each buffer.  None if it has not the layout of the type."""
    form, rows = form_of(kind), column.size()
    if not rows or column.type() != form.cudf or pa.types.is_dictionary(kind):
        return None
    spans = [column.data()]
    if form.kind not in _FLAT:
        offsets = column.child(0) if form.kind in _OFFSETS and column.num_children() else None
        if offsets is None or offsets.type() != _OFFSETS[form.kind]:
            return None
        spans = [offsets.data(), column.data()]
    nulls = column.null_count()
    return rows, nulls, (column.null_mask() if nulls else None, *spans)


def parts_of(column: Any, kind: pa.DataType, parts: list[pa.Array]) -> pa.Array:
    """An array of lists or structs of a column that starts at its first row."""
    if pa.types.is_struct(kind) or pa.types.is_fixed_size_list(kind):
        return _over(kind, column, [], parts)
    offsets = column.child(0)
    if pa.types.is_large_list(kind):
        offsets = plc.unary.cast(offsets, _INT64)
    return _over(kind, column, [offsets.data()], parts)


def _over(kind: pa.DataType, column: Any, spans: list[Any], children: Any = None) -> pa.Array:
    nulls = column.null_count()
    buffers = [_view(column.null_mask()) if nulls else None, *map(_view, spans)]
    return pa.Array.from_buffers(kind, column.size(), buffers, nulls, 0, children)


def _view(span: Any) -> Any:
    """A buffer over memory of libcudf's, which the buffer keeps."""
    address, size = (span.ptr, span.size) if span is not None else (0, 0)
    return _native._view_memory(_native._here(), address, size, span)
