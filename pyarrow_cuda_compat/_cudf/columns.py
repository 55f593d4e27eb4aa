"""pyarrow's data as libcudf's, and back, without a copy but for booleans, which libcudf keeps in
bytes."""

from __future__ import annotations

import atexit
from collections.abc import Callable, Iterable, Sequence
from itertools import repeat
from operator import is_
from typing import Any

import pyarrow as pa
import pylibcudf as plc  # type: ignore[import-not-found,unused-ignore]

from .. import _native
from .._data import batch_of
from . import spans
from .admission import admitted, need_rows
from .caches import Cache, of_flat_types
from .conversions import conversion_of, remember
from .layouts import VIEWS, conforming, one_piece, pieces
from .refusals import need
from .types import MOST_ROWS, carrier_of, cudf_type, form_of, kind_of

_is = pa.types


def on_device(data: Any) -> Any:
    """Data on a device, and each column of it in one piece; data on the host is copied there.  It
    stays in chunks if these have more bytes than the offsets of one array can count."""
    need_rows(len(data), MOST_ROWS)
    if not _native._is_on_device(data):
        data = data.copy_to(_native._here().memory_manager)
    _need_one_dictionary(data)
    try:
        if isinstance(data, pa.ChunkedArray):
            return data.combine_chunks() if data.num_chunks != 1 else data.chunk(0)
        is_whole = not isinstance(data, pa.Table) or all(it.num_chunks == 1 for it in data.columns)
        return data if is_whole else batch_of(data)
    except pa.ArrowInvalid as error:
        if not str(error).startswith("offset overflow"):
            raise
        return data


def _need_one_dictionary(data: Any) -> None:
    """Refuses chunks of several dictionaries, which pyarrow would unify."""
    columns = data.columns if isinstance(data, pa.Table) else [data]
    for column in columns:
        if isinstance(column, pa.ChunkedArray) and _is.is_dictionary(column.type):
            several = {_place_of(chunk.dictionary) for chunk in column.chunks}
            text = "not with chunks of several dictionaries: call unify_dictionaries() on the host"
            need(len(several) < 2, text)


def _place_of(array: Any) -> tuple[int, ...]:
    """Tells arrays apart that have other memory."""
    addresses = (0 if it is None else it.address for it in array.buffers())
    return array.offset, len(array), *addresses


_NUMBERS = frozenset(("bool", "int", "float"))
_TABLES = pa.RecordBatch | pa.Table


def to_cudf(value: Any) -> Any:
    """An array, a table or a scalar as libcudf's column, table or scalar."""
    if isinstance(value, _TABLES):
        return table_of(value)
    return scalar_of(value) if isinstance(value, pa.Scalar) else _columns_of([value])[0]


def table_of(data: Any, places: Sequence[int] | None = None) -> Any:
    """A table or record batch, or some columns of it, as libcudf's table.  A whole one that is a
    view is remembered."""
    found = conversion_of(data)
    if found is not None:
        if found.is_view:
            _native._make_ready(data)
        columns = found.column.columns()
        return found.column if places is None else plc.Table([columns[it] for it in places])
    every = data.columns if places is None else [data.column(it) for it in places]
    views = spans.columns_of(every)
    columns = [*map(_settled, views, every)]
    made = plc.Table(columns)
    if places is None and all(map(is_, views, columns)):
        remember(data, _native._here(), made, is_view=True)
    return made


def _columns_of(arrays: list[Any]) -> list[Any]:
    return [*map(_settled, spans.columns_of(arrays), arrays)]


def _settled(view: Any, array: Any) -> Any:
    """The view of an array's memory, or the column of a copy."""
    column = _converted(array) if view is None else view
    # Joins and gathers mix up the nulls of slices.
    return column.copy() if column.offset() and column.null_count() else column


def _converted(array: Any) -> Any:
    """The column of an array that is in several pieces, of another type, or not where libcudf can
    read it."""
    whole = on_device(array)
    if isinstance(whole, pa.ChunkedArray):
        # libcudf's own strings may be longer than those of one array.
        return plc.concatenate.concatenate(_columns_of(whole.chunks))
    if isinstance(whole, pa.RunEndEncodedArray):
        return _of_runs(whole)
    stored = whole.storage if isinstance(whole, pa.ExtensionArray) else whole
    stored, form = admitted(stored)
    (column,) = spans.columns_of([stored])
    return _imported(stored, form.kind) if column is None else column


def _imported(array: Any, kind: str) -> Any:
    """A column of an array that spans do not describe."""
    if kind == "null":
        return _nulls(array.type, len(array))
    if kind == "dictionary":
        need(not array.dictionary.null_count, "not with nulls in a dictionary")
        return to_cudf(array.indices)
    carrier = carrier_of(array.type)
    if kind == "large_list":
        if not len(array):
            return plc.Column.from_arrow(_nothing(carrier))
        return spans.large_list_column_of(array, _LIST, to_cudf(array.values))
    if kind == "fixed_list":
        return _of_fixed_lists(array)
    # libcudf's import reads both kinds of views, as the same strings.
    return plc.Column.from_arrow(array if carrier == array.type else _Typed(array, carrier))


def _nothing(kind: pa.DataType, rows: int = 0) -> Any:
    return pa.nulls(rows, kind).copy_to(_native._here().memory_manager)


def _nulls(kind: pa.DataType, rows: int) -> Any:
    like = plc.Column.from_scalar(scalar_of(pa.scalar(0, carrier_of(kind))), 1)
    return plc.Column.all_null_like(like, rows)


def _of_fixed_lists(array: Any) -> Any:
    """Lists of libcudf's, whose nulls have no elements."""
    need(not array.null_count, f"not with nulls of type {array.type}")
    rows, size = len(array), array.type.list_size
    elements = from_first_row(to_cudf(array.values.slice(array.offset * size, rows * size)))
    first, step = (scalar_of(pa.scalar(it, pa.int32())) for it in (0, size))
    offsets = plc.filling.sequence(rows + 1, first, step)
    return plc.Column(_LIST, rows, None, None, 0, 0, [offsets, elements])


def _of_runs(array: Any) -> Any:
    """The values of runs, each as often as the array has it."""
    operators, number = plc.binaryop.BinaryOperator, pa.int64()
    first, none, last = (scalar_of(pa.scalar(it, number)) for it in (array.offset, 0, len(array)))
    ends = plc.unary.cast(to_cudf(array.run_ends), none.type())
    steps = (operators.SUB, first), (operators.NULL_MAX, none), (operators.NULL_MIN, last)
    for operator, other in steps:
        ends = plc.binaryop.binary_operation(ends, other, operator, none.type())
    starts = plc.copying.shift(ends, 1, none)
    counts = plc.binaryop.binary_operation(
        ends, starts, operators.SUB, plc.DataType(plc.TypeId.INT32)
    )
    return plc.filling.repeat(plc.Table([to_cudf(array.values)]), counts).columns()[0]


_LIST = plc.DataType(plc.TypeId.LIST)


class _Typed:
    """An array's memory, with a type of the same layout."""

    def __init__(self, array: Any, kind: pa.DataType) -> None:
        self._array, self._kind = array, kind

    def __arrow_c_device_array__(self, *_: Any, **__: Any) -> tuple[Any, Any]:
        _, array = self._array.__arrow_c_device_array__()
        return self._kind.__arrow_c_schema__(), array


#: Scalars of these kinds are kept on the device, each of which would be a copy for every call.
_KEPT_KINDS = ("bool", "int", "float", "decimal", "string", "date", "time", "duration")
#: Longer strings are not kept.
_MOST_BYTES = 1024
_scalars = Cache(512)
atexit.register(_scalars.clear)  # while RMM can still give the memory back


def scalar_of(value: pa.Scalar) -> Any:
    if not value.is_valid or kind_of(value.type) not in _KEPT_KINDS:
        return plc.Scalar.from_arrow(_carried(value))
    content = _content(value)
    if isinstance(content, bytes) and len(content) > _MOST_BYTES:
        return plc.Scalar.from_arrow(value)

    def made() -> Any:
        return plc.Scalar.from_arrow(_carried(value))

    # Another context comes after a reset of the device.
    return _scalars.get(made, _native._here(), value.type, content)


def _carried(value: pa.Scalar) -> pa.Scalar:
    """The same bits in a type that libcudf has."""
    kind = kind_of(value.type)
    need(kind != "dictionary", "not with a value of a dictionary")
    if kind == "view":
        return _carried(value.cast(pa.binary()))
    carrier = carrier_of(value.type)
    if carrier == value.type or _is.is_nested(carrier):
        return value
    if not value.is_valid:
        return pa.scalar(None, carrier)
    return pa.array([value], value.type).view(carrier)[0]


def _content(value: pa.Scalar) -> Any:
    """What tells a scalar from others of its type."""
    kind = kind_of(value.type)
    if kind in ("date", "time", "duration"):
        return value.value  # Python has no object for some times
    if kind == "string":
        return value.as_buffer().to_pybytes()
    return str(value.as_py()) if kind == "decimal" else value.as_py()


def argument(value: Any) -> tuple[Any, int]:
    """An argument as libcudf's, and the upper bound of its values."""
    found = None if isinstance(value, pa.Scalar) else conversion_of(value)
    return (to_cudf(value), 0) if found is None else (found.column, found.upper_bound)


def to_arrow(column: Any, kind: pa.DataType, like: Any = None) -> Any:
    """An array of a type, over the memory of a column.  If it has a dictionary or views, these are
    the ones of another array, `like`."""
    return _array_of(conforming(from_first_row(column), kind), kind, like)


def rows_of_views(data: Any, rows: Any) -> tuple[Any, Any]:
    """The bits of some rows of an array of views, and the array."""
    array = on_device(data)
    is_aligned = admitted(array)[0] is array
    need(is_aligned, "not with views at such addresses: copy them on the device")
    bits = plc.Table([spans.views_of(array, VIEWS)])
    found = plc.copying.gather(bits, rows, plc.copying.OutOfBoundsPolicy.DONT_CHECK)
    return found.columns()[0], array


def to_chunks(column: Any, kind: pa.DataType, like: Any = None) -> Any:
    """The same as a chunked array, of several chunks if its strings are too long for one."""
    part = _part_of(from_first_row(column), kind, like, pieces)
    return _made([part], _schema_of(kind)).column(0)


def _part_of(column: Any, kind: pa.DataType, like: Any, split: Callable[..., list[Any]]) -> Any:
    """What `_table_over_memory` makes a column of."""
    memory = spans.memory_of(column, kind)
    if memory is not None:
        return memory
    arrays = [_array_of(piece, kind, like) for piece in split(column, kind)]
    return arrays[0] if len(arrays) == 1 else pa.chunked_array(arrays)


def _made(parts: list[Any], schema: pa.Schema, cls: Any = pa.Table) -> Any:
    return _native._table_over_memory(_native._here(), schema, parts, issubclass(cls, pa.Table))


@of_flat_types
def _schema_of(kind: pa.DataType) -> pa.Schema:
    return pa.schema([pa.field("", kind)])


def from_first_row(column: Any) -> Any:
    """The same column, whose memory starts with it: libcudf exports the nulls of a slice from its
    beginning on."""
    return column.copy() if column.offset() else column


def _array_of(column: Any, kind: pa.DataType, like: Any = None) -> Any:
    name, rows = kind_of(kind), column.size()
    if name == "dictionary":
        return _with_dictionary(_array_of(column, kind.index_type), kind, like)
    if name == "null" or not rows:
        return _nothing(kind, rows)
    if name == "extension":
        return pa.ExtensionArray.from_storage(kind, _array_of(column, kind.storage_type))
    if name == "fixed_list":
        need(not column.null_count(), f"not with nulls in results of type {kind}")
        is_whole = column.child(1).size() == rows * kind.list_size
        need(is_whole, f"libcudf's result is not of type {kind}")
    if name == "view":
        need(like is not None, f"not with results of type {kind}")
        return spans.view_array_of(column, on_device(like))
    if form_of(kind).has_parts:
        children = column.children()[name != "struct" :]  # a list's first child has its offsets
        types = [kind.field(place).type for place in range(kind.num_fields)]
        parts = [_array_of(from_first_row(it), of) for it, of in zip(children, types, strict=True)]
        return spans.parts_of(column, kind, parts)
    memory = spans.memory_of(column, kind)
    if memory is not None:
        return _made([memory], _schema_of(kind), pa.RecordBatch).column(0)
    _, array = column.__arrow_c_device_array__()  # booleans become bits
    return pa.Array._import_from_c_device_capsule(kind.__arrow_c_schema__(), array)


def _with_dictionary(indices: Any, kind: pa.DataType, like: Any) -> Any:
    """The array with these indices, and the dictionary of another one."""
    need(like is not None, "not with dictionaries within expressions")
    buffers, nulls = indices.buffers(), indices.null_count
    return pa.DictionaryArray.from_buffers(kind, len(indices), buffers, dictionary_of(like), nulls)


def dictionary_of(data: Any) -> Any:
    """The dictionary on the device of an array, or of all chunks of one that was converted."""
    if isinstance(data, pa.ChunkedArray):
        if not data.num_chunks:
            return on_device(pa.array([], data.type.value_type))
        data = data.chunk(0)
    dictionary = data.dictionary
    return dictionary if _native._is_on_device(dictionary) else on_device(dictionary)


def to_scalar(scalar: Any, kind: pa.DataType) -> Any:
    """A scalar of libcudf as a scalar of pyarrow, on the host."""
    if kind_of(kind) in _NUMBERS and scalar.type() == cudf_type(kind):
        return pa.scalar(scalar.to_py(), kind)  # in a fifth of the time
    value, carrier = scalar.to_arrow(), carrier_of(kind)
    value = value if value.type == carrier else value.cast(carrier)
    return value if carrier == kind else pa.array([value], carrier).view(kind)[0]


def to_table(
    columns: Iterable[Any], schema: pa.Schema, cls: Any = pa.Table, likes: Any = None
) -> Any:
    """A table or a record batch of columns, which are remembered for it.  Those with dictionaries
    have those of `likes`, arrays of which there is one for each column."""
    columns = [*map(from_first_row, columns)]
    likes = repeat(None) if likes is None else likes
    split = pieces if issubclass(cls, pa.Table) else one_piece
    parts = [*map(_part_of, columns, schema.types, likes, repeat(split))]
    result = _made(parts, schema, cls)
    if all(map(is_as_imported, columns, schema.types)):
        remember(result, _native._here(), plc.Table(columns))
    return result


def is_as_imported(column: Any, kind: pa.DataType) -> bool:
    """Whether the array of a type that is made of a column would become the same column."""
    return bool(column.type() == form_of(kind).cudf)
