"""Columns of intervals of months, or of days and milliseconds, which old files have.

pyarrow has these types, but no class of arrays for them: to make an array of such a column raises
``KeyError: 21``.  Here, columns become numbers of the same size over the same memory, and back.
"""

from typing import Any

import pyarrow as pa

from .. import _native

#: Numbers as wide as the intervals whose types have these ids.
_NUMBERS = {21: pa.int32(), 22: pa.int64()}


def as_numbers(data: Any) -> Any:
    """A chunked array, record batch or table with numbers in place of intervals; the same object
    if it has no intervals."""
    if isinstance(data, pa.ChunkedArray):
        return retyped(data, _NUMBERS[data.type.id]) if data.type.id in _NUMBERS else data
    if not any(kind.id in _NUMBERS for kind in data.schema.types):
        return data
    fields = [field.with_type(_NUMBERS.get(field.type.id, field.type)) for field in data.schema]
    return retyped(data, pa.schema(fields, data.schema.metadata))


def retyped(data: Any, kind: Any) -> Any:
    """An array, chunked array, record batch or table with a type or schema of the same layout; the
    same object if it has that already."""
    if (data.schema if hasattr(data, "schema") else data.type) == kind:
        return data
    if isinstance(data, pa.ChunkedArray):
        column = pa.Table.from_arrays([data], [""])
        return retyped(column, pa.schema([("", kind)])).column(0)
    if isinstance(data, pa.Table):
        batches = (retyped(batch, kind) for batch in data.to_batches())
        return pa.Table.from_batches(batches, kind)
    cls = pa.RecordBatch if isinstance(data, pa.RecordBatch) else pa.Array
    _, exported = data.__arrow_c_device_array__()
    return cls._import_from_c_device_capsule(kind.__arrow_c_schema__(), exported)


def split(data: Any) -> tuple[list[pa.ChunkedArray], Any]:
    """The columns of intervals of some data, and what is left of it."""
    if isinstance(data, pa.Array):
        return [], data
    if isinstance(data, pa.ChunkedArray):
        return ([data], None) if data.type.id in _NUMBERS else ([], data)
    places = [place for place, kind in enumerate(data.schema.types) if kind.id in _NUMBERS]
    if not places:
        return [], data
    table = pa.Table.from_batches([data]) if isinstance(data, pa.RecordBatch) else data
    others = [place for place in range(data.num_columns) if place not in places]
    return [table.column(place) for place in places], data.select(others)


def parts_of(column: pa.ChunkedArray) -> list[Any]:
    """The chunks of a chunked array: arrays, or of intervals record batches of one column."""
    if column.type.id not in _NUMBERS:
        return list(column.chunks)
    return list(pa.Table.from_arrays([column], [""]).to_batches())


def column_of(parts: list[Any], kind: pa.DataType) -> pa.ChunkedArray:
    """A chunked array of such chunks."""
    if kind.id not in _NUMBERS:
        return pa.chunked_array(parts, kind)
    return pa.Table.from_batches(parts, pa.schema([("", kind)])).column(0)


def spans_of(column: pa.ChunkedArray) -> list[tuple[int, int]]:
    """The addresses and sizes of the buffers of a column of intervals on a device."""
    chunks = [column_of([part], column.type) for part in parts_of(column)]
    found = (spans for _, _, spans in filter(None, _native._memory_of(chunks)))
    return [span for spans in found for span in spans if span is not None]
