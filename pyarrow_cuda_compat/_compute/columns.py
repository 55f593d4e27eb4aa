"""pyarrow's data as libcudf's, and back, without a copy but for booleans, which libcudf keeps in
bytes."""

from __future__ import annotations

import atexit
from collections.abc import Iterable
from typing import Any

import pyarrow as pa
import pylibcudf as plc  # type: ignore[import-not-found,unused-ignore]

from .. import _native
from .._pyarrow.joins import batch_of
from . import spans
from .caches import Cache, of_flat_types
from .engine import here
from .kinds import SIMPLE, NotCovered, cudf_type, kind_of
from .known import known, remember

_is = pa.types


def on_device(data: Any) -> Any:
    """Data in one piece on a device; data on the host is copied there."""
    if not _native._is_on_device(data):
        data = data.copy_to(here().memory_manager)
    if isinstance(data, pa.ChunkedArray):
        return data.combine_chunks() if data.num_chunks != 1 else data.chunk(0)
    return batch_of(data) if isinstance(data, pa.Table) else data


_NUMBERS = frozenset(("bool", "int", "float"))
_TABLES = pa.RecordBatch | pa.Table


def to_cudf(value: Any) -> Any:
    """An array, a record batch or a scalar as libcudf's column, table or scalar."""
    if isinstance(value, pa.RecordBatch):
        return plc.Table([*map(to_cudf, value.columns)])
    if isinstance(value, pa.Scalar):
        return scalar_of(value)
    column = spans.column_of(value)
    if column is None:
        column = plc.Column.from_arrow(value)
    # Joins and gathers mix up the nulls of slices.
    return column.copy() if column.offset() and column.null_count() else column


#: Scalars of these kinds are kept on the device, each of which would be a copy for every call.
_KEPT_KINDS = ("bool", "int", "float", "date")
_scalars = Cache(512)
atexit.register(_scalars.clear)  # while RMM can still give the memory back


def scalar_of(value: pa.Scalar) -> Any:
    if not value.is_valid or kind_of(value.type) not in _KEPT_KINDS:
        return plc.Scalar.from_arrow(value)
    number = value.value if kind_of(value.type) == "date" else value.as_py()
    # Another context comes after a reset of the device.
    return _scalars.get(lambda: plc.Scalar.from_arrow(value), here(), value.type, number)


def argument(value: Any) -> tuple[Any, Any, int]:
    """An argument in one piece on the device, as libcudf's, and the number that it is below."""
    if isinstance(value, pa.Scalar):
        return value, scalar_of(value), 0
    if isinstance(value, _TABLES):
        return on_device(value), table_of(value), 0
    piece, found = on_device(value), known(value)
    return (piece, to_cudf(piece), 0) if found is None else (piece, found.column, found.below)


def table_of(data: Any) -> Any:
    """A table or record batch as libcudf's, which is remembered if it is a view."""
    found = known(data)
    if found is None:
        made = to_cudf(on_device(data))
        if _is_in_one_piece(data) and all(map(spans.is_view, made.columns())):
            remember(data, here(), made, is_result=False)
        return made
    if not found.is_result:
        _native._make_ready(data)
    return found.column


def _is_in_one_piece(data: Any) -> bool:
    """Whether `on_device` makes no copy of it."""
    columns = data.columns if isinstance(data, pa.Table) else ()
    return _native._is_on_device(data) and all(it.num_chunks == 1 for it in columns)


def to_arrow(column: Any, kind: pa.DataType) -> Any:
    """An array of a type, over the memory of a column with that layout."""
    if column.offset():  # libcudf exports the nulls of a slice from its beginning on
        column = column.copy()
    array = spans.array_of(column, kind)
    if array is not None:
        return array
    schema, array = column.__arrow_c_device_array__()
    try:
        return _as(pa.Array._import_from_c_device_capsule(schema, array), kind)
    except pa.ArrowInvalid as error:  # parts without rows may have no memory
        raise NotCovered(f"libcudf's result is not valid: {error}") from None


def to_scalar(scalar: Any, kind: pa.DataType) -> Any:
    """A scalar of libcudf as a scalar of pyarrow, on the host."""
    if kind_of(kind) in _NUMBERS and scalar.type() == cudf_type(kind):
        return pa.scalar(scalar.to_py(), kind)  # in a fifth of the time
    value = scalar.to_arrow()
    return value if value.type == kind else value.cast(kind)


def to_table(columns: Iterable[Any], schema: pa.Schema, cls: Any = pa.Table) -> Any:
    """A table or a record batch of columns, which are remembered for it."""
    columns = [column.copy() if column.offset() else column for column in columns]
    arrays = [to_arrow(column, field.type) for column, field in zip(columns, schema, strict=True)]
    result = cls.from_arrays(arrays, schema=schema)
    if all(map(is_as_imported, columns, schema.types)):
        remember(result, here(), plc.Table(columns), is_result=True)
    return result


def is_as_imported(column: Any, kind: pa.DataType) -> bool:
    """Whether the array of a type that is made of a column would become the same column."""
    return bool(column.type() == _imported_type(kind))


@of_flat_types
def _imported_type(kind: pa.DataType) -> Any:
    return cudf_type(kind) if kind_of(kind) in SIMPLE.split() else None


def _as(array: Any, kind: pa.DataType) -> Any:
    """The same memory as an array of a type with the same layout."""
    if array.type.equals(kind, check_metadata=True):
        return array
    children = None
    buffers = array.buffers()
    if _is.is_struct(kind):
        children = [_as(array.field(place), each.type) for place, each in enumerate(kind)]
    elif _is.is_list(kind):
        children = [_as(array.values, kind.value_type)]
    return pa.Array.from_buffers(
        kind, len(array), buffers[: kind.num_buffers], array.null_count, array.offset, children
    )
