"""pyarrow's data as libcudf's, and back, without a copy but for booleans, which libcudf keeps in
bytes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any

import pyarrow as pa
import pylibcudf as plc  # type: ignore[import-not-found,unused-ignore]

from .. import _native
from .._native import CudaBuffer
from .._pyarrow.joins import batch_of

_is = pa.types
#: The words of rows for the types that they take, and the check of each.
_KINDS: dict[str, Callable[[Any], bool]] = {
    "bool": _is.is_boolean,
    "int": _is.is_integer,
    "float": lambda it: _is.is_float32(it) or _is.is_float64(it),
    "decimal": _is.is_decimal128,
    "string": _is.is_string,
    "date": _is.is_date32,
    "time": lambda it: _is.is_timestamp(it) and it.tz in (None, "UTC"),
    "duration": _is.is_duration,
    "list": lambda it: _is.is_list(it) and _has_kinds([it.value_type]),
    "struct": lambda it: _is.is_struct(it) and _has_kinds([each.type for each in it]),
    "dictionary": lambda it: _is.is_dictionary(it) and _has_kinds([it.value_type]),
}


def _has_kinds(types: list[pa.DataType]) -> bool:
    return bool(types) and all(kind_of(each) != "other" for each in types)


@lru_cache(maxsize=1024)
def kind_of(kind: pa.DataType) -> str:
    """The kind of a type, in the words of the rows; ``other`` if libcudf has no such type."""
    return next((name for name, check in _KINDS.items() if check(kind)), "other")


@lru_cache(maxsize=1024)
def cudf_type(kind: pa.DataType) -> Any:
    """libcudf's type for a type of pyarrow that has a kind."""
    return plc.DataType.from_arrow(pa.timestamp(kind.unit) if _is.is_timestamp(kind) else kind)


def context_of(data: Any) -> Any:
    """The context of the memory of data on a device."""
    if isinstance(data, pa.RecordBatch | pa.Table):
        parts = data.columns
    else:
        parts = data.chunks if isinstance(data, pa.ChunkedArray) else [data]
    for part in parts:
        if isinstance(part, pa.ChunkedArray):
            found = context_of(part)
            if found is not None:
                return found
            continue
        for buffer in part.buffers():
            if buffer is not None and not buffer.is_cpu:
                return CudaBuffer.from_buffer(buffer).context
    return None


def on_device(data: Any, context: Any) -> Any:
    """Data in one piece on a device; data on the host is copied there."""
    if not _native._is_on_device(data):
        data = data.copy_to(context.memory_manager)
    if isinstance(data, pa.ChunkedArray):
        return data.combine_chunks() if data.num_chunks != 1 else data.chunk(0)
    return batch_of(data) if isinstance(data, pa.Table) else data


def to_cudf(value: Any) -> Any:
    """An array, a record batch or a scalar as libcudf's column, table or scalar."""
    if isinstance(value, pa.RecordBatch):
        return plc.Table([to_cudf(column) for column in value.columns])
    if isinstance(value, pa.Scalar):
        return plc.Scalar.from_arrow(value)
    column = plc.Column.from_arrow(value)
    # Joins and gathers mix up the nulls of slices.
    return column.copy() if column.offset() and column.null_count() else column


def to_arrow(column: Any, kind: pa.DataType) -> Any:
    """An array of a type, over the memory of a column with that layout."""
    if column.offset():  # libcudf exports the nulls of a slice from its beginning on
        column = column.copy()
    schema, array = column.__arrow_c_device_array__()
    return _as(pa.Array._import_from_c_device_capsule(schema, array), kind)


def to_scalar(scalar: Any, kind: pa.DataType) -> Any:
    """A scalar of libcudf as a scalar of pyarrow, on the host."""
    value = scalar.to_arrow()
    return value if value.type == kind else value.cast(kind)


def to_batch(columns: Iterable[Any], schema: pa.Schema) -> Any:
    arrays = [to_arrow(column, field.type) for column, field in zip(columns, schema, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _as(array: Any, kind: pa.DataType) -> Any:
    """The same memory as an array of a type with the same layout."""
    if array.type == kind:
        return array
    children = None
    buffers = array.buffers()
    if _is.is_struct(kind):
        children = [_as(array.field(place), each.type) for place, each in enumerate(kind)]
    elif _is.is_list(kind):
        children = [_as(array.values, kind.value_type)]
    return pa.Array.from_buffers(
        kind,
        len(array),
        buffers[: kind.num_buffers],
        array.null_count,
        array.offset,
        children,
    )
