"""Arrays and tables on a device that are made of parts of others, or of the same memory.

pyarrow's own methods refuse such data, or would read it as if it were host memory.  Here, they view
the same memory, and call functions of `pyarrow.compute` where they have to look at it.

==============================================  ==================================================
``to_struct_array``, ``from_struct_array``       rows as structs, and back
``DictionaryArray.from_arrays``                  indices are compared with the dictionary's size
``Array.view``                                   of types without parts
``true_count``, ``false_count``                  by `pyarrow.compute.sum`
==============================================  ==================================================

Each function here takes pyarrow's own method or property and its arguments.
"""

from typing import Any

import pyarrow as pa

from .. import _native
from .._data import beside
from .._methods.intervals import as_numbers, retyped
from .guards.actions import count_nulls, refuse
from .patching import Method, override

_is = pa.types
_lib = pa.lib


def _struct_of_batch(_original: Method, batch: Any) -> Any:
    numbers = as_numbers(batch)
    rows = pa.StructArray.from_arrays(numbers.columns, fields=list(numbers.schema))
    return retyped(rows, pa.struct(list(batch.schema)))


def _structs_of_table(_original: Method, table: Any, max_chunksize: Any = None) -> Any:
    chunks = [batch.to_struct_array() for batch in table.to_batches(max_chunksize)]
    return pa.chunked_array(chunks, pa.struct(list(table.schema)))


def _batch_of_struct(original: Method, struct_array: Any) -> Any:
    if not isinstance(struct_array, pa.StructArray):
        return original(struct_array)
    schema = pa.schema(list(struct_array.type))
    return pa.RecordBatch.from_arrays(struct_array.flatten(), schema=schema)


def _dictionary_array(
    original: Method,
    indices: Any,
    dictionary: Any,
    mask: Any = None,
    ordered: bool = False,
    from_pandas: bool = False,
    safe: bool = True,
    memory_pool: Any = None,
) -> Any:
    from pyarrow import compute

    dictionary = count_nulls(
        dictionary if isinstance(dictionary, pa.Array) else pa.array(dictionary)
    )
    if not isinstance(indices, pa.Array):
        if from_pandas or mask is not None:
            _native._map_device_data((indices, mask), refuse(f"pyarrow.{original.__qualname__}"))
        else:
            indices = pa.array(indices)
    # pyarrow says what is wrong, by arrays on the host of the same types and size.
    values, more = pa.nulls(len(dictionary), dictionary.type), (mask, ordered, from_pandas, safe)
    if isinstance(indices, pa.Array) and _native._is_on_device(indices):
        kind = original(pa.nulls(0, indices.type), values, *more).type
        dictionary = beside(indices, dictionary)
        if safe and len(indices) > indices.null_count:
            ends = compute.min_max(indices)
            original(pa.array([ends["min"], ends["max"]], indices.type), values)
    else:
        made = original(indices, values, *more, memory_pool)
        kind, indices = made.type, beside(dictionary, made.indices)
    facts = indices.null_count, indices.offset
    return pa.DictionaryArray.from_buffers(
        kind, len(indices), indices.buffers(), dictionary, *facts
    )


def _view(original: Method, array: Any, target_type: Any) -> Any:
    kind = original(pa.nulls(0, array.type), target_type).type
    if not (_is_plain(array.type) and _is_plain(kind)):
        _native._refuse(array, "pyarrow.Array.view")
    return pa.Array.from_buffers(kind, len(array), array.buffers(), array.null_count, array.offset)


def _is_plain(kind: pa.DataType) -> bool:
    """Whether arrays of a type are their buffers, of which there is a fixed number."""
    is_apart = _is.is_dictionary(kind) or isinstance(kind, pa.BaseExtensionType)
    is_view = _is.is_string_view(kind) or _is.is_binary_view(kind)
    return not (kind.num_fields or is_apart or is_view or _is.is_null(kind))


def _true_count(_original: Method, array: Any) -> int:
    from pyarrow import compute

    return int(compute.sum(array, min_count=0).as_py())


def _false_count(_original: Method, array: Any) -> int:
    return len(array) - int(array.null_count) - int(array.true_count)


def install() -> None:
    """Answers for the methods and properties."""
    for cls, name, method in (
        (_lib.RecordBatch, "to_struct_array", _struct_of_batch),
        (_lib.Table, "to_struct_array", _structs_of_table),
        (_lib.RecordBatch, "from_struct_array", _batch_of_struct),
        (_lib.DictionaryArray, "from_arrays", _dictionary_array),
        (_lib.Array, "view", _view),
        (_lib.BooleanArray, "true_count", _true_count),
        (_lib.BooleanArray, "false_count", _false_count),
    ):
        override(cls, name, method, "any")
