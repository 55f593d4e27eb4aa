"""Data of pyarrow on a device: where it lies, and as one piece or on the host.

The ground of the package: this module uses the extension only.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from . import _native

_HOST = pa.default_cpu_memory_manager()


def lies_on_host(value: Any) -> bool:
    """Whether all data of an array, chunked array, record batch or table is plain host memory."""
    # libarrow looks at the first buffer only.  So it reports host memory for an array whose first
    # child has no buffer, and for a batch that was read from device memory.
    return not _native._is_on_device(value) and value.is_cpu


def to_host(data: Any) -> Any:
    """A copy of data in host memory: of an array, chunked array, record batch, table, buffer or
    message."""
    if isinstance(data, pa.Buffer):
        return _native.CudaBuffer.from_buffer(data).copy_to_host()
    if isinstance(data, pa.Message):
        return _message_to_host(data)
    return data.copy_to(_HOST)


def to_host_whole(data: Any) -> Any:
    """A copy of an array or record batch in host memory, as pyarrow makes it: with all of its
    buffers, whatever part of them it has."""
    original = type(data).copy_to
    return (_native._unguarded(original) or original)(data, _HOST)


def beside(there: Any, data: Any) -> Any:
    """An array, or a copy of it in the memory that another one lies in."""
    if _native._is_on_device(data):
        return data
    buffer = next(it for it in there.buffers() if it is not None and not it.is_cpu)
    return data.copy_to(buffer.memory_manager)


def _message_to_host(message: Any) -> Any:
    """The same message, encapsulated and read again."""
    metadata = message.metadata.to_pybytes()
    padding = b"\0" * (-len(metadata) % 8)
    size = len(metadata) + len(padding)
    start = b"\xff\xff\xff\xff" + size.to_bytes(4, "little") + metadata + padding
    return pa.ipc.read_message(start + to_host(message.body).to_pybytes())


def batch_of(table: Any) -> Any:
    """A record batch of the rows of a table on a device."""
    return _native._assemble(table.schema, list(map(_as_array, table.combine_chunks().columns)))


def _as_array(column: Any) -> Any:
    # pyarrow's own method refuses pinned memory.
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
