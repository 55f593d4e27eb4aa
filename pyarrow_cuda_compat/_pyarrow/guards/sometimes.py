"""What pyarrow does on the host in some cases only: those are refused, and the others are not."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pyarrow as pa

from ... import _native
from .host_copies import count, refuse, to_host


def concat_tables(
    function: Callable[..., Any], tables: Iterable[Any], *arguments: Any, **keywords: Any
) -> Any:
    """Refused if columns on a device have to be cast to one type."""
    tables = list(tables)
    promotes = keywords.get("promote_options", arguments[1] if len(arguments) > 1 else "none")
    if promotes != "none" or keywords.get("promote"):
        refuse(list(_to_be_cast(tables)), "pyarrow.concat_tables")
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


def from_offsets(function: Callable[..., Any], *arguments: Any, **keywords: Any) -> Any:
    """Refused if an offset is null: libarrow then computes other offsets."""
    name = f"pyarrow.{function.__qualname__}"
    arguments, keywords = count(arguments, name), count(keywords, name)
    offsets: Any = keywords.get("offsets", arguments[0] if arguments else None)
    is_there = isinstance(offsets, pa.Array) and _native._may_be_on_device(offsets)
    if is_there and offsets.buffers()[0] is not None and to_host(offsets).null_count:
        refuse(offsets, name)
    return function(*arguments, **keywords)


def validate(function: Callable[..., Any], data: Any, *arguments: Any, **keywords: Any) -> Any:
    """On the host where libarrow finds a fault: it takes empty buffers, which have no address on a
    device, for missing ones."""
    try:
        return function(data, *arguments, **keywords)
    except pa.ArrowInvalid:
        return function(to_host(data), *arguments, **keywords)
