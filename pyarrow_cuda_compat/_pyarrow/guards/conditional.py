"""Functions that read their data in host memory in some cases only.

Each function here takes the guarded function and its arguments.
"""

from collections.abc import Callable, Iterable
from typing import Any

import pyarrow as pa

from ... import _native
from ..joins import batch_of
from .actions import count_nulls, has_type, to_host


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
                # Those of nulls alone are made anew.
                if not pa.types.is_null(column.type):
                    columns.setdefault(name, []).append(column)
    for found in columns.values():
        if any(column.type != found[0].type for column in found):
            yield from found


def join(function: Callable[..., Any], *arguments: Any, **keywords: Any) -> Any:
    """Makes one array of arrays, or one batch of batches, on their device."""
    if not arguments:
        name = "recordbatches" if "recordbatches" in keywords else "arrays"
        return join(function, keywords.pop(name), **keywords)
    parts = list(arguments[0])
    are_alike = all(isinstance(part, pa.Array | pa.RecordBatch) for part in parts)
    if not (are_alike and any(map(_native._is_on_device, parts))):
        return function(parts, *arguments[1:], **keywords)
    if isinstance(parts[0], pa.RecordBatch):
        return batch_of(pa.Table.from_batches(parts))
    return pa.chunked_array(parts).combine_chunks()


def from_offsets(function: Callable[..., Any], *arguments: Any, **keywords: Any) -> Any:
    """Refuses offsets of which one is null: libarrow then computes other offsets."""
    arguments, keywords = _native._map_device_data((arguments, keywords), count_nulls)
    offsets: Any = keywords.get("offsets", arguments[0] if arguments else None)
    is_on_device = isinstance(offsets, pa.Array) and _native._is_on_device(offsets)
    if is_on_device and offsets.buffers()[0] is not None and to_host(offsets).null_count:
        _native._refuse(offsets, f"pyarrow.{function.__qualname__}")
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
    return function(to_host(batch) if has_type(types, pa.types.is_run_end_encoded) else batch)
