"""Chunks, arrays and batches on a device become one there.

pyarrow's own functions would read them as if they were host memory.  All columns of a table are
allocated together and filled by one kernel, after the work of the default stream; a column of one
chunk is not copied.

=======================================  =========================================================
``ChunkedArray`` and ``Table``           ``combine_chunks`` works on a device.  `memory_pool` has no
                                         meaning there
``ChunkedArray``                         is a tensor by DLPack, if an array of its type is one:
                                         several chunks are combined first
``ChunkedArray`` and ``Table``           are exported as one array, too, by
                                         ``__arrow_c_device_array__``, for consumers that take no
                                         streams, such as cuDF
=======================================  =========================================================

Chunked arrays and tables on the host do not get the methods of the last two rows: consumers would
prefer these methods to pyarrow's own.
"""

from functools import partial
from typing import Any

import pyarrow as pa

from .. import _native
from .._data import batch_of, lies_on_host
from .patching import Method, add, override


def _combine(cls: type, original: Method, data: Any, memory_pool: Any = None) -> Any:
    combined = _native._combine(data, cls)
    return original(data, memory_pool) if combined is None else combined


def _of_one(name: str, one: Method) -> property:
    """The method of that name of what `one` makes of data on a device."""

    def method(self: Any) -> Any:
        if lies_on_host(self):
            raise AttributeError(f"data on the host has no {name}", name=name, obj=self)
        return lambda *arguments, **keywords: getattr(one(self), name)(*arguments, **keywords)

    method.__annotations__.clear()  # Jedi fails at those of properties of compiled classes
    return property(method)


def install() -> None:
    """Answers for methods, and adds others."""
    array, table = pa.lib.ChunkedArray, pa.lib.Table
    for cls in (array, table):
        override(cls, "combine_chunks", partial(_combine, cls), "any")
    for cls, name, one in (
        (table, "__arrow_c_device_array__", batch_of),
        (array, "__arrow_c_device_array__", lambda chunks: chunks.combine_chunks()),
        (array, "__dlpack__", lambda chunks: chunks.combine_chunks()),
        (array, "__dlpack_device__", lambda chunks: chunks.chunk(0)),
    ):
        add(cls, name, _of_one(name, one))
