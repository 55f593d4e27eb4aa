"""Scanners of datasets, by which pyarrow reads files on the host."""

from __future__ import annotations

from typing import Any

import pyarrow as pa


def scanner_of(data: Any, **options: Any) -> Any:
    """A scanner of a dataset or of a fragment.

    pyarrow reads several batches of a file at a time.  With dictionaries in Arrow files that can
    lose memory or end the process, as seen with 26.0.1, so it reads one after the other there.
    """
    import pyarrow.dataset as ds  # takes milliseconds

    schema = data.schema if isinstance(data, ds.Dataset) else data.physical_schema
    is_parquet = isinstance(getattr(data, "format", None), ds.ParquetFileFormat)
    if not is_parquet and any(map(_has_dictionary, schema.types)):
        options["batch_readahead"] = 0
    return data.scanner(**options)


def _has_dictionary(kind: pa.DataType) -> bool:
    if isinstance(kind, pa.BaseExtensionType):
        return _has_dictionary(kind.storage_type)
    inner = (kind.field(number).type for number in range(kind.num_fields))
    return pa.types.is_dictionary(kind) or any(map(_has_dictionary, inner))
