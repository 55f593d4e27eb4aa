"""Record batches of tables and readers know their device, and arrays their nulls there.

libarrow takes the batches of a table, and those that it reads from an IPC stream or file, for
batches on the host, whatever their memory is (apache/arrow#44049).  So pyarrow's own methods do not
refuse to work on them, and crash.  Here, methods that return batches correct their devices.

A table of batches counts the nulls of slices as if their bitmaps were host memory, and crashes.
Here, they are counted on copies of the bitmaps before a table or a reader is made of the batches,
and when a program asks for `null_count`.

For data on the CPU, this takes 100 to 300 nanoseconds for each batch.
With ``PYARROW_CUDA_HOOK=0`` this package does not change the methods.

Each function here takes pyarrow's own method or property and its arguments, or the result.
"""

from typing import Any

import pyarrow as pa

from .. import _native
from .._methods.intervals import as_numbers
from .guards.actions import count_nulls
from .patching import Method, override


def _placed_with_metadata(answer: Any) -> Any:
    return answer._replace(batch=_native._placed(answer.batch))


def _to_batches(original: Method, *arguments: Any, **keywords: Any) -> Any:
    return [*map(_native._placed, original(*arguments, **keywords))]


def _table_of_batches(original: Method, batches: Any, schema: Any = None) -> Any:
    return original([count_nulls(_native._placed(batch)) for batch in batches], schema)


def _reader_of_batches(original: Method, schema: Any, batches: Any) -> Any:
    return original(schema, map(_native._placed, batches))


def _to_reader(_original: Method, table: Any, max_chunksize: Any = None) -> Any:
    return pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize))


def _null_count(original: Method, data: Any) -> int:
    if isinstance(data, pa.ChunkedArray):
        return sum(chunk.null_count for chunk in as_numbers(data).chunks)
    _native._count_nulls(data)  # on a copy of the bitmap, unless their number is known
    return int(original(_native._skeleton(data)))


def install() -> None:
    """Answers for the methods and properties."""
    lib = pa.lib
    override(lib.RecordBatch, "is_cpu", lambda _original, _batch: False, "any")
    for cls in (lib.Array, lib.ChunkedArray):
        override(cls, "null_count", _null_count, "any")
    override(lib.Table, "to_batches", _to_batches, "any")
    override(lib.Table, "to_reader", _to_reader, "any")
    override(lib.Table, "from_batches", _table_of_batches, "any")
    override(lib.RecordBatchReader, "from_batches", _reader_of_batches, "any")
    for cls, name, placed in (
        (lib.RecordBatchReader, "read_next_batch", _native._placed),
        (lib.RecordBatchReader, "read_next_batch_with_custom_metadata", _placed_with_metadata),
        (lib._RecordBatchFileReader, "get_batch", _native._placed),
        (lib._RecordBatchFileReader, "get_record_batch", _native._placed),
        (lib._RecordBatchFileReader, "get_batch_with_custom_metadata", _placed_with_metadata),
    ):
        override(cls, name, placed, "result")
