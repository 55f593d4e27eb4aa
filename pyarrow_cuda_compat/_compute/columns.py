"""pyarrow's data as libcudf's, and back, without a copy but for booleans, which libcudf keeps in
bytes."""

from __future__ import annotations

import atexit
import threading
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any, NamedTuple
from weakref import ref

import pyarrow as pa
import pylibcudf as plc  # type: ignore[import-not-found,unused-ignore]

from .. import _native
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


#: Kinds of types without parts.
_SIMPLE = frozenset(_KINDS) - {"list", "struct", "dictionary"}


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


_thread = threading.local()


def compute_in(context: Any) -> None:
    """Sets the context in which the thread's call computes."""
    _thread.context = context


def here() -> Any:
    """That context."""
    return _thread.context


def on_device(data: Any) -> Any:
    """Data in one piece on a device; data on the host is copied there."""
    if not _native._is_on_device(data):
        data = data.copy_to(here().memory_manager)
    if isinstance(data, pa.ChunkedArray):
        return data.combine_chunks() if data.num_chunks != 1 else data.chunk(0)
    return batch_of(data) if isinstance(data, pa.Table) else data


class _Span(NamedTuple):
    """Memory on a device, by libcudf's names."""

    ptr: int
    size: int
    owner: pa.Buffer


_NUMBERS = frozenset(("bool", "int", "float"))
#: Kinds of types whose values lie in one buffer, as libcudf has them.
_FLAT = frozenset(("int", "float", "date", "time", "duration"))


def to_cudf(value: Any) -> Any:
    """An array, a record batch or a scalar as libcudf's column, table or scalar."""
    if isinstance(value, pa.RecordBatch):
        return plc.Table([*map(to_cudf, value.columns)])
    if isinstance(value, pa.Scalar):
        return scalar_of(value)
    buffers = value.buffers() if kind_of(value.type) in _FLAT else ()
    is_flat = bool(buffers) and not any(it is not None and it.is_cpu for it in buffers)
    column = _flat(value, *buffers) if is_flat else plc.Column.from_arrow(value)
    # Joins and gathers mix up the nulls of slices.
    return column.copy() if column.offset() and column.null_count() else column


def _flat(array: Any, mask: Any, data: Any) -> Any:
    """What `Column.from_arrow` makes of an array, in a third of the time."""
    _native._make_ready(array)
    nulls, kind = array.null_count, cudf_type(array.type)
    if data is not None and data.address % (array.type.bit_width // 8):
        return to_cudf(array.copy_to(here()))  # a kernel would fail, and all work after it
    data, mask = (None if it is None else _Span(it.address, it.size, it) for it in (data, mask))
    return plc.Column(kind, len(array), data, mask if nulls else None, nulls, array.offset, [])


#: Scalars of these kinds are kept on the device, each of which would be a copy for every call.
_KEPT_KINDS, _MOST_KEPT = ("bool", "int", "float", "date"), 512
_scalars: dict[tuple[Any, pa.DataType, str], Any] = {}
atexit.register(_scalars.clear)  # while RMM can still give the memory back


def scalar_of(value: pa.Scalar) -> Any:
    """A scalar as libcudf's."""
    if not value.is_valid or kind_of(value.type) not in _KEPT_KINDS:
        return plc.Scalar.from_arrow(value)
    # Another context comes after a reset of the device.  0.0 equals -0.0, but is another value.
    key = here(), value.type, repr(value.as_py())
    found = _scalars.get(key)
    if found is None:
        if len(_scalars) >= _MOST_KEPT:
            _scalars.clear()
        found = _scalars[key] = plc.Scalar.from_arrow(value)
    return found


class Known(NamedTuple):
    """What is known of a result, as long as a program has it."""

    result: Any
    #: The column or table that it was made of: booleans are in bytes there.
    column: Any
    #: Whether its values, which are not null, are 0 to this number without it; 0 if not known.
    below: int


_known: dict[int, Known] = {}


def remember(result: Any, column: Any, below: int = 0) -> None:
    place = id(result)
    _known[place] = Known(ref(result, lambda _: _known.pop(place, None)), column, below)


def argument(value: Any) -> tuple[Any, Any, int]:
    """An argument in one piece on the device, as libcudf's, and the number that it is below."""
    if isinstance(value, pa.Scalar):
        return value, scalar_of(value), 0
    found, piece = known(value), on_device(value)
    return (piece, to_cudf(piece), 0) if found is None else (piece, found.column, found.below)


def known(data: Any) -> Known | None:
    found = _known.get(id(data))
    return found if found is not None and found.result() is data else None


def to_arrow(column: Any, kind: pa.DataType) -> Any:
    """An array of a type, over the memory of a column with that layout."""
    if column.offset():  # libcudf exports the nulls of a slice from its beginning on
        column = column.copy()
    schema, array = column.__arrow_c_device_array__()
    return _as(pa.Array._import_from_c_device_capsule(schema, array), kind)


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
        remember(result, plc.Table(columns))
    return result


def is_as_imported(column: Any, kind: pa.DataType) -> bool:
    """Whether the array of a type that is made of a column would become the same column."""
    return bool(column.type() == _imported_type(kind))


@lru_cache(maxsize=1024)
def _imported_type(kind: pa.DataType) -> Any:
    return cudf_type(kind) if kind_of(kind) in _SIMPLE else None


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
        kind, len(array), buffers[: kind.num_buffers], array.null_count, array.offset, children
    )
