"""`pyarrow.dataset` with data on a device: it makes a `device_datasets.DeviceDataset` of it.

`pyarrow.dataset` is imported by a program, or not at all.
"""

from collections.abc import Callable
from typing import Any

import pyarrow as pa

from ... import _native
from .actions import copy_to_host


def in_memory_dataset(
    original: Callable[..., Any], source: Any, schema: Any = None, **options: Any
) -> Any:
    """`pyarrow.dataset._in_memory_dataset`, which may get tables and batches on a device."""
    if not _has_device_data(source):
        return original(source, schema, **options)
    parts = source if isinstance(source, list | tuple) else [source]
    if not all(isinstance(part, pa.Table | pa.RecordBatch) for part in parts):
        _native._refuse(source, "pyarrow.dataset.dataset")
    empty = original([part.schema.empty_table() for part in parts], schema, **options)
    tables = [it if isinstance(it, pa.Table) else pa.Table.from_batches([it]) for it in parts]
    batches = [batch for table in tables for batch in table.to_batches()]
    from .device_datasets import DeviceDataset

    return DeviceDataset(empty, pa.Table.from_batches(batches, schema=empty.schema))


def _has_device_data(source: Any) -> bool:
    found: list[Any] = []
    _native._map_device_data(source, lambda data, _: found.append(data))
    return bool(found)


def write_dataset(original: Callable[..., Any], data: Any, *arguments: Any, **keywords: Any) -> Any:
    """`pyarrow.dataset.write_dataset`, which writes what it gets from the host."""
    from .device_datasets import DeviceDataset

    data = data.to_table() if isinstance(data, DeviceDataset) else data
    given = _native._map_device_data(((data, *arguments), keywords), copy_to_host)
    return original(*given[0], **given[1])
