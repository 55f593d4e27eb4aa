"""``flatten`` of lists, structs, chunks and tables on a device, whose values and fields are there.

=============================  ===================================================================
lists without nulls            the values from the first offset to the last
lists with nulls               by `pyarrow.compute`; if libcudf does not answer, the host reads
                               offsets and bitmap, and the values that stay become one array
list views                     the host reads where each list lies; then as above
lists in many places           by pyarrow on the host, and back
structs without nulls          their fields
structs with nulls             by `pyarrow.compute`; if libcudf does not answer, the host joins the
                               bitmap of each field with the struct's
=============================  ===================================================================

Each function here takes pyarrow's own method and its arguments.
"""

from typing import Any

import pyarrow as pa

from .patching import Method, override

_is = pa.types
_lib = pa.lib


def _flatten_lists(original: Method, array: Any, recursive: bool = False) -> Any:
    from .._methods.nested import values_of

    if isinstance(array, pa.MapArray):
        return original(array, recursive)
    array = values_of(array)
    while recursive and isinstance(array, _lib.BaseListArray) and not _is.is_map(array.type):
        array = values_of(array)
    return array


def _flatten_struct(_original: Method, array: Any, memory_pool: Any = None) -> list[Any]:
    from pyarrow import compute

    places = range(array.type.num_fields)
    if not array.null_count:
        return [array.field(place) for place in places]
    try:
        return [compute.struct_field(array, [place]) for place in places]
    except NotImplementedError:
        from .._methods.nested import field_under

        return [field_under(array, array.field(place)) for place in places]


def _flatten_chunks(_original: Method, data: Any, memory_pool: Any = None) -> list[Any]:
    if not _is.is_struct(data.type):
        return [data]
    parts = zip(*(chunk.flatten() for chunk in data.chunks), strict=True)
    return [
        pa.chunked_array(chunks, field.type) for chunks, field in zip(parts, data.type, strict=True)
    ]


def _flatten_table(original: Method, table: Any, memory_pool: Any = None) -> Any:
    rows = pa.nulls(0, pa.struct(list(table.schema)))
    schema = original(pa.Table.from_struct_array(rows)).schema.with_metadata(table.schema.metadata)
    columns = [part for column in table.columns for part in column.flatten()]
    return pa.Table.from_arrays(columns, schema=schema)


def install() -> None:
    """Answers for the methods."""
    for cls, method in (
        (_lib.BaseListArray, _flatten_lists),
        (_lib.StructArray, _flatten_struct),
        (_lib.ChunkedArray, _flatten_chunks),
        (_lib.Table, _flatten_table),
    ):
        override(cls, "flatten", method, "any")
