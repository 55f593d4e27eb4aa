"""Functions that read their data in host memory in some cases only.

Each function here takes the guarded function and its arguments.
"""

from collections.abc import Callable, Iterable
from typing import Any

import pyarrow as pa

from ... import _native
from ..._data import batch_of, to_host, to_host_whole
from ..._methods.intervals import as_numbers, retyped
from .actions import count_nulls, has_type


def concat_tables(
    function: Callable[..., Any], tables: Iterable[Any], *arguments: Any, **keywords: Any
) -> Any:
    """Refuses columns on a device that have to be cast to one type."""
    tables = list(tables)
    promotes = keywords.get("promote_options", arguments[1] if len(arguments) > 1 else "none")
    if promotes != "none" or keywords.get("promote"):
        for column in _to_be_cast(tables):
            if _native._is_on_device(column):
                _native._refuse(column, "pyarrow.concat_tables")
    return function(tables, *arguments, **keywords)


def _to_be_cast(tables: list[Any]) -> Iterable[Any]:
    columns: dict[str, list[Any]] = {}
    for table in tables:
        if isinstance(table, pa.Table):
            for name, column in zip(table.column_names, table.columns, strict=True):
                # Arguments of nulls alone are made anew.
                if not pa.types.is_null(column.type):
                    columns.setdefault(name, []).append(column)
    for found in columns.values():
        if any(column.type != found[0].type for column in found):
            yield from found


def join(function: Callable[..., Any], *arguments: Any, **keywords: Any) -> Any:
    """Makes one array of arrays, or one batch of batches, on their device.  pyarrow's function gets
    parts without rows first, and says what is wrong with them, and with the other arguments."""
    name = "recordbatches" if function.__name__ == "concat_batches" else "arrays"
    first = keywords.pop(name) if not arguments and name in keywords else arguments[0]
    parts, rest = list(first), arguments[1:]
    kind = pa.RecordBatch if name == "recordbatches" else pa.Array
    if not (
        all(isinstance(part, kind) for part in parts) and any(map(_native._is_on_device, parts))
    ):
        return function(parts, *rest, **keywords)
    function([_without_rows(part) for part in parts], *rest, **keywords)
    if kind is pa.RecordBatch:
        rows = batch_of(pa.Table.from_batches(map(as_numbers, parts)))
        return retyped(rows, parts[0].schema)
    return pa.chunked_array(parts).combine_chunks()


def _without_rows(part: Any) -> Any:
    if isinstance(part, pa.RecordBatch):
        rows = pa.RecordBatch.from_struct_array(pa.nulls(0, pa.struct(list(part.schema))))
        return rows.replace_schema_metadata(part.schema.metadata)
    return pa.nulls(0, part.type)


#: By class, of the methods that make arrays of offsets: the class in which the same offsets are
#: valid for values of no type, and the arguments, of which the last one has the values.
_OF_OFFSETS: dict[str, tuple[Any, tuple[str, ...]]] = {
    "ListArray": (pa.ListArray, ("offsets", "values")),
    "LargeListArray": (pa.LargeListArray, ("offsets", "values")),
    "MapArray": (pa.ListArray, ("offsets", "keys")),
    "ListViewArray": (pa.ListViewArray, ("offsets", "sizes", "values")),
    "LargeListViewArray": (pa.LargeListViewArray, ("offsets", "sizes", "values")),
}


def from_offsets(function: Callable[..., Any], *arguments: Any, **keywords: Any) -> Any:
    """Refuses offsets that are invalid, which libarrow would read as if they were host memory, and
    those of which one is null: libarrow then computes other offsets."""
    arguments, keywords = _native._map_device_data((arguments, keywords), count_nulls)
    cls, names = _OF_OFFSETS[function.__qualname__.partition(".")[0]]
    given = dict(zip(names, arguments, strict=False)) | keywords
    *offsets, values = map(given.get, names)
    if isinstance(values, pa.Array) and all(isinstance(it, pa.Array) for it in offsets):
        on_host: list[Any] = [to_host(it) if _native._is_on_device(it) else it for it in offsets]
        if on_host[0] is not offsets[0] and on_host[0].null_count:
            _native._refuse(offsets[0], f"pyarrow.{function.__qualname__}")
        cls.from_arrays(*on_host, pa.nulls(len(values))).validate(full=True)
    return function(*arguments, **keywords)


def validate(function: Callable[..., Any], data: Any, *arguments: Any, **keywords: Any) -> Any:
    """Validates a copy on the host where libarrow finds a fault: it takes empty buffers, which have
    no address on a device, for missing ones."""
    try:
        return function(data, *arguments, **keywords)
    except pa.ArrowInvalid:
        return function(to_host(data), *arguments, **keywords)


def size_of(function: Callable[..., int], batch: Any) -> int:
    """The size of the message of a batch, whose runs are on the host."""
    types = batch.schema.types if isinstance(batch, pa.RecordBatch) else []
    has_runs = has_type(types, pa.types.is_run_end_encoded)
    return function(to_host_whole(batch) if has_runs else batch)
