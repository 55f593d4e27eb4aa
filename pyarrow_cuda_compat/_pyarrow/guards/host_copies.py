"""What becomes of arguments that lie on a device, where pyarrow reads them on the host.

Each function takes a value, which may be a container of others, and the name of what was called,
and returns what is to be used in its place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pyarrow as pa

from ... import _native
from ..._native import CudaBuffer

_HOST = pa.default_cpu_memory_manager()


def refuse(value: Any, name: str) -> Any:
    """Raises ``NotImplementedError`` for data on a device."""
    return _each(value, lambda data: _refuse(data, name))


def bring(value: Any, _name: str) -> Any:
    """Copies data to the host."""
    return _each(value, to_host)


def count(value: Any, _name: str) -> Any:
    """Counts the nulls of arrays that lie on a device."""
    return _each(value, _counted)


def _each(value: Any, treat: Callable[[Any], Any]) -> Any:
    """Replaces the data on a device in a value.  Iterators are looked at while they are read."""
    if isinstance(value, pa.Array | pa.ChunkedArray | pa.RecordBatch | pa.Table | pa.Buffer):
        return treat(value) if _native._may_be_on_device(value) else value
    if type(value) in (list, tuple):
        return type(value)(_each(each, treat) for each in value)
    if type(value) is dict:
        return {key: _each(each, treat) for key, each in value.items()}
    if isinstance(value, pa.Message):
        body = value.body
        return value if body is None or body.is_cpu else treat(value)
    if isinstance(value, pa.RecordBatchReader):
        batches = (_each(batch, treat) for batch in value)
        return pa.RecordBatchReader.from_batches(value.schema, batches)
    if isinstance(value, Iterator) and not _is_file(value):
        return (_each(each, treat) for each in value)
    return value


def _is_file(value: Any) -> bool:
    return isinstance(value, pa.NativeFile) or hasattr(value, "read") or hasattr(value, "write")


def _refuse(data: Any, name: str) -> Any:
    # pyarrow's own check stands for whatever method began by it.
    reads = "" if name.endswith("._assert_cpu") else f"{name} reads it in host memory. "
    raise NotImplementedError(f"Implemented only for data on CPU device: {reads}{_way_out(data)}")


def _way_out(data: Any) -> str:
    if isinstance(data, pa.Buffer):
        return (
            "pyarrow.cuda.CudaBuffer.from_buffer(buffer).copy_to_host() copies it there, and "
            "pyarrow.cuda.BufferWriter writes to device memory"
        )
    return (
        "copy_to(pyarrow.default_cpu_memory_manager()) copies an array or a record batch there; "
        "CuPy and cuDF compute on the device"
    )


def _counted(data: Any) -> Any:
    if isinstance(data, pa.Array | pa.RecordBatch):
        _native._count_nulls(data)
    return data  # that of chunks is known


def to_host(data: Any) -> Any:
    """A copy of data in host memory: of an array, chunked array, record batch, table or buffer."""
    if isinstance(data, pa.Buffer):
        return CudaBuffer.from_buffer(data).copy_to_host()
    if isinstance(data, pa.Message):
        return _message_to_host(data)
    return data.copy_to(_HOST)


def _message_to_host(message: Any) -> Any:
    """The same message, encapsulated and read again."""
    metadata = message.metadata.to_pybytes()
    padding = b"\0" * (-len(metadata) % 8)
    size = len(metadata) + len(padding)
    start = b"\xff\xff\xff\xff" + size.to_bytes(4, "little") + metadata + padding
    return pa.ipc.read_message(start + to_host(message.body).to_pybytes())
