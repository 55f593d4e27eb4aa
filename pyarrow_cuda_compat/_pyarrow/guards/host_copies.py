"""What becomes of arguments that lie on a device, where pyarrow reads them on the host.

Each function takes a value, which may be a container of others, and the name of what was called,
and returns what is to be used in its place.
"""

from __future__ import annotations

from collections import UserString
from collections.abc import Callable, Iterator, Mapping
from types import FunctionType
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


def _each(value: Any, treat: Callable[[Any], Any], depth: int = 5) -> Any:
    """Replaces the data on a device in a value.

    What can be iterated once only is looked at while it is read.
    """
    if isinstance(value, pa.Array | pa.ChunkedArray | pa.RecordBatch | pa.Table | pa.Buffer):
        return treat(value) if _native._may_be_on_device(value) else value
    if isinstance(value, pa.Message):
        body = value.body
        return value if body is None or body.is_cpu else treat(value)
    if isinstance(value, pa.RecordBatchReader):
        batches = (_each(batch, treat) for batch in value)
        return pa.RecordBatchReader.from_batches(value.schema, batches)
    if depth == 0:
        return value
    if isinstance(value, Mapping):
        treated = {key: _each(value[key], treat, depth - 1) for key in list(value)}
        return treated if any(value[key] is not each for key, each in treated.items()) else value
    if type(value) in (list, tuple):
        return type(value)(_each(each, treat, depth - 1) for each in value)
    if _makes_arrays(value):
        return _made(value, treat)
    if not _is_container(value):
        return value
    if isinstance(value, Iterator):
        return (_each(each, treat, depth - 1) for each in value)
    if not _has(type(value), "__len__"):
        return _Treated(value, treat)
    found = [each for each in value]  # `list` would ask for the length
    if not _native._may_be_on_device(found):
        return value
    others = [_each(each, treat, depth - 1) for each in found]
    if all(one is other for one, other in zip(found, others, strict=True)):
        return value
    return tuple(others) if isinstance(value, tuple) else others


class _Treated:
    """What is iterated as another object is, with data on a device replaced."""

    def __init__(self, value: Any, treat: Callable[[Any], Any]) -> None:
        self._value, self._treat = value, treat

    def __iter__(self) -> Iterator[Any]:
        return (_each(each, self._treat) for each in self._value)


def _has(kind: type, name: str) -> bool:
    return any(name in vars(each) for each in kind.__mro__)


def _makes_arrays(value: Any) -> bool:
    kind = type(value)
    if _has(kind, "__arrow_array__") or _has(kind, "__arrow_c_device_array__"):
        return True
    # What pandas keeps as Arrow's arrays.
    return _has(kind, "__array__") and hasattr(getattr(value, "dtype", None), "pyarrow_dtype")


def _made(value: Any, treat: Callable[[Any], Any]) -> Any:
    """The array that pyarrow would make of it, if that one lies on a device."""
    try:
        made = pa.array(value)
    except Exception:
        return value  # pyarrow will say the same
    return treat(made) if _native._may_be_on_device(made) else value


def _is_container(value: Any) -> bool:
    """Whether pyarrow may look into it: into anything that can be iterated, or indexed."""
    kind = type(value)
    is_text = isinstance(value, str | bytes | bytearray | memoryview | UserString)
    if is_text or _is_file(value) or str(kind.__module__).partition(".")[0] == "pyarrow":
        return False
    if _has(kind, "__array__"):
        return bool(getattr(getattr(value, "dtype", None), "hasobject", False)) and value.ndim == 1
    if _has(kind, "__arrow_c_stream__") or _has(kind, "__arrow_c_array__"):
        return False  # another library's, in host memory
    return _has(kind, "__iter__") or isinstance(getattr(kind, "__getitem__", None), FunctionType)


def _is_file(value: Any) -> bool:
    if isinstance(value, pa.NativeFile):
        return True
    # Readers of batches have `read`, too.
    may_be = hasattr(value, "read") or hasattr(value, "write")
    return may_be and any(hasattr(value, name) for name in ("closed", "seek", "readline"))


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
