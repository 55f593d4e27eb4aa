"""Tokens, by which Dask knows equal data: hashes of the bytes of buffers, also inside arrays."""

from typing import Any

import pyarrow as pa
from dask.base import normalize_token

from .. import _native
from .._interop.pickling import lies_on_host
from .._pyarrow.guards.actions import to_host


def register() -> None:
    """Has what lies on a device hashed by a copy in host memory, and by the device's number."""
    of_host_buffer = normalize_token.dispatch(pa.Buffer)
    of_host_array = normalize_token.dispatch(pa.Array)

    def of_buffer(buffer: Any) -> Any:
        if buffer.is_cpu:
            return of_host_buffer(buffer)
        return _device_number(buffer), of_host_buffer(to_host(buffer))

    def of_array(array: Any) -> Any:
        if lies_on_host(array):
            return of_host_array(array)
        buffers = [each for each in array.buffers() if each is not None and not each.is_cpu]
        numbers = tuple(map(_device_number, buffers[:1]))
        # A part of an array may have the buffers of the whole.
        return numbers, array.offset, len(array), of_host_array(to_host(array))

    normalize_token.register(pa.Buffer, of_buffer)
    normalize_token.register(pa.Array, of_array)


def _device_number(buffer: Any) -> int:
    return _native.CudaBuffer.from_buffer(buffer).context.device_number
