"""pyarrow's data as libcudf's, and back, without a copy but for booleans, which libcudf keeps in
bytes."""

from __future__ import annotations

import atexit
from collections.abc import Iterable
from typing import Any

import pyarrow as pa
import pylibcudf as plc  # type: ignore[import-not-found,unused-ignore]

from .. import _native
from .._data import batch_of
from . import spans
from .admission import admitted, need_rows
from .caches import Cache
from .conversions import conversion_of, remember
from .layouts import conforming, pieces
from .refusals import NotCovered, need
from .types import MOST_ROWS, cudf_type, form_of, kind_of

_is = pa.types


def on_device(data: Any) -> Any:
    """Data in one piece on a device; data on the host is copied there.  It stays in chunks if these
    have more bytes than the offsets of one array can count."""
    need_rows(len(data), MOST_ROWS)
    if not _native._is_on_device(data):
        data = data.copy_to(_native._here().memory_manager)
    try:
        if isinstance(data, pa.ChunkedArray):
            return data.combine_chunks() if data.num_chunks != 1 else data.chunk(0)
        return batch_of(data) if isinstance(data, pa.Table) else data
    except pa.ArrowInvalid as error:
        if not str(error).startswith("offset overflow"):
            raise
        return data


_NUMBERS = frozenset(("bool", "int", "float"))
_TABLES = pa.RecordBatch | pa.Table


def to_cudf(value: Any) -> Any:
    """An array, a record batch or a scalar as libcudf's column, table or scalar."""
    if isinstance(value, _TABLES):
        return plc.Table([*map(to_cudf, value.columns)])
    if isinstance(value, pa.Scalar):
        return scalar_of(value)
    if isinstance(value, pa.ChunkedArray):
        piece = on_device(value)
        if piece is not value:
            return to_cudf(piece)
        # libcudf's own strings may be longer than those of one array.
        return plc.concatenate.concatenate([*map(to_cudf, value.chunks)])
    array, form, buffers = admitted(value)
    column = spans.column_of(array, form, buffers)
    if column is None:
        column = plc.Column.from_arrow(array)
    # Joins and gathers mix up the nulls of slices.
    return column.copy() if column.offset() and column.null_count() else column


#: Scalars of these kinds are kept on the device, each of which would be a copy for every call.
_KEPT_KINDS = ("bool", "int", "float", "decimal", "string", "date", "time", "duration")
#: Longer strings are not kept.
_MOST_BYTES = 1024
_scalars = Cache(512)
atexit.register(_scalars.clear)  # while RMM can still give the memory back


def scalar_of(value: pa.Scalar) -> Any:
    if not value.is_valid or kind_of(value.type) not in _KEPT_KINDS:
        return plc.Scalar.from_arrow(value)
    number = _content(value)
    if isinstance(number, bytes) and len(number) > _MOST_BYTES:
        return plc.Scalar.from_arrow(value)
    # Another context comes after a reset of the device.
    return _scalars.get(lambda: plc.Scalar.from_arrow(value), _native._here(), value.type, number)


def _content(value: pa.Scalar) -> Any:
    """What tells a scalar from others of its type."""
    kind = kind_of(value.type)
    if kind in ("date", "time", "duration"):
        return value.value  # Python has no object for some times
    if kind == "string":
        return value.as_buffer().to_pybytes()
    return str(value.as_py()) if kind == "decimal" else value.as_py()


def argument(value: Any) -> tuple[Any, Any, int]:
    """An argument, maybe in one piece on the device, as libcudf's, and the upper bound of
    its values."""
    if isinstance(value, pa.Scalar):
        return value, scalar_of(value), 0
    if isinstance(value, _TABLES):
        return value, table_of(value), 0
    found = conversion_of(value)
    if found is not None:
        return value, found.column, found.upper_bound
    piece = on_device(value)
    return piece, to_cudf(piece), 0


def table_of(data: Any) -> Any:
    """A table or record batch as libcudf's, which is remembered if it is a view."""
    found = conversion_of(data)
    if found is None:
        made = to_cudf(on_device(data))
        if _is_view(made, data):
            remember(data, _native._here(), made, is_result=False)
        return made
    if not found.is_result:
        _native._make_ready(data)
    return found.column


def _is_view(made: Any, data: Any) -> bool:
    """Whether a table of libcudf's is over the memory of the data itself."""
    columns = data.columns
    if isinstance(data, pa.Table):
        if any(column.num_chunks != 1 for column in columns):
            return False
        columns = [column.chunk(0) for column in columns]
    return all(map(spans.is_view, made.columns(), columns))


def to_arrow(column: Any, kind: pa.DataType) -> Any:
    """An array of a type, over the memory of a column."""
    return _array_of(conforming(from_first_row(column), kind), kind)


def to_chunks(column: Any, kind: pa.DataType) -> Any:
    """The same; a chunked array if its strings are too long for one array."""
    arrays = [_array_of(piece, kind) for piece in pieces(from_first_row(column), kind)]
    return arrays[0] if len(arrays) == 1 else pa.chunked_array(arrays)


def from_first_row(column: Any) -> Any:
    """The same column, whose memory starts with it: libcudf exports the nulls of a slice from its
    beginning on."""
    return column.copy() if column.offset() else column


def _array_of(column: Any, kind: pa.DataType) -> Any:
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
    columns = [*map(from_first_row, columns)]
    converted = to_chunks if cls is pa.Table else to_arrow
    result = cls.from_arrays([*map(converted, columns, schema.types)], schema=schema)
    if all(map(is_as_imported, columns, schema.types)):
        remember(result, _native._here(), plc.Table(columns), is_result=True)
    return result


def is_as_imported(column: Any, kind: pa.DataType) -> bool:
    """Whether the array of a type that is made of a column would become the same column."""
    return bool(column.type() == form_of(kind).cudf)


def _as(array: Any, kind: pa.DataType) -> Any:
    """The same memory as an array of a type with the same layout."""
    if array.type.equals(kind, check_metadata=True):
        return array
    need(array.type.id == kind.id, f"libcudf's result is not of type {kind}")
    children = None
    buffers = array.buffers()
    if _is.is_struct(kind):
        children = [_as(array.field(place), each.type) for place, each in enumerate(kind)]
    elif _is.is_list(kind):
        children = [_as(array.values, kind.value_type)]
    return pa.Array.from_buffers(
        kind, len(array), buffers[: kind.num_buffers], array.null_count, array.offset, children
    )
