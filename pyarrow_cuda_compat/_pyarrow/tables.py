"""Record batches of tables and readers know their device, and arrays their nulls there.

libarrow takes the batches of a table, and those that it reads from an IPC stream or file, for
batches on the host, whatever their memory is (apache/arrow#44049).  So pyarrow's own methods do not
refuse to work on them, and crash.  Here, the methods that return batches say where these really
lie.

A table of batches counts the nulls of slices as if their bitmaps were host memory, and crashes.
Here, they are counted on copies of the bitmaps before a table or a reader is made of the batches,
and when a program asks for `null_count`.

For data on the CPU, this takes some hundred nanoseconds for each batch.  With
``PYARROW_CUDA_HOOK=0`` this package does not replace the methods.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any

import pyarrow as pa

from .. import _native
from .patching import replace, wrap

_Method = Callable[..., Any]


def _with_result(place: Callable[[Any], Any]) -> Callable[[_Method], _Method]:
    """Replaces a method by one whose results are placed."""

    def make(original: _Method) -> _Method:
        @wraps(original)
        def method(self: Any, *args: Any, **kwargs: Any) -> Any:
            return place(original(self, *args, **kwargs))

        return method

    return make


_of_batch = _with_result(_native._placed)
_of_batch_with_metadata = _with_result(
    lambda answer: answer._replace(batch=_native._placed(answer.batch))
)
_of_table = _with_result(lambda batches: [*map(_native._placed, batches)])


def _of_batches(original: _Method) -> _Method:
    @wraps(original)
    def from_batches(batches: Any, schema: Any = None) -> Any:
        return original(map(_native._placed, batches), schema)

    return staticmethod(from_batches)


def _reader_of_batches(original: _Method) -> _Method:
    @wraps(original)
    def from_batches(schema: Any, batches: Any) -> Any:
        return original(schema, map(_native._placed, batches))

    return staticmethod(from_batches)


def _as_reader(original: _Method) -> _Method:
    @wraps(original)
    def to_reader(self: Any, max_chunksize: Any = None) -> Any:
        if not _native._is_on_device(self):
            return original(self, max_chunksize)
        return pa.RecordBatchReader.from_batches(self.schema, self.to_batches(max_chunksize))

    return to_reader


def _is_cpu(original: Any) -> property:
    """Whether all columns lie on the host; libarrow asks the first one only."""

    def is_cpu(self: Any) -> bool:
        return original.__get__(self) and not _native._is_on_device(self)

    return property(is_cpu, doc=original.__doc__)


def _null_count(original: Any) -> property:
    def null_count(self: Any) -> int:
        if not _native._is_on_device(self):
            return int(original.__get__(self))
        if isinstance(self, pa.ChunkedArray):
            return sum(chunk.null_count for chunk in self.chunks)
        _native._count_nulls(self)  # on a copy of the bitmap, unless their number is known
        return int(original.__get__(_native._skeleton(self)))

    return property(null_count, doc=original.__doc__)


def install() -> None:
    """Replaces the methods and properties, once."""
    lib = pa.lib
    replace(lib.RecordBatch, "is_cpu", _is_cpu)
    for cls in (lib.Array, lib.ChunkedArray):
        replace(cls, "null_count", _null_count)
    for cls, name, make in (
        (lib.Table, "to_batches", _of_table),
        (lib.Table, "to_reader", _as_reader),
        (lib.Table, "from_batches", _of_batches),
        (lib.RecordBatchReader, "from_batches", _reader_of_batches),
        (lib.RecordBatchReader, "read_next_batch", _of_batch),
        (lib.RecordBatchReader, "read_next_batch_with_custom_metadata", _of_batch_with_metadata),
        (lib._RecordBatchFileReader, "get_batch", _of_batch),
        (lib._RecordBatchFileReader, "get_record_batch", _of_batch),
        (lib._RecordBatchFileReader, "get_batch_with_custom_metadata", _of_batch_with_metadata),
    ):
        wrap(cls, name, make)
