"""Tokens, by which Dask knows equal data: hashes of the bytes of buffers, also inside arrays."""

from typing import Any

import pyarrow as pa
from dask.base import normalize_token

from .. import _native
from .._data import lies_on_host, to_host
from .._methods.pickling import Part, tree_of


def register() -> None:
    """Has what lies on a device hashed by a copy in host memory, and by the device's number."""
    of_host_buffer = normalize_token.dispatch(pa.Buffer)
    of_host_array = normalize_token.dispatch(pa.Array)

    def of_buffer(buffer: Any) -> Any:
        if buffer.is_cpu:
            return of_host_buffer(buffer)
        try:
            buffer = _native.CudaBuffer.from_buffer(buffer)
        except TypeError:
            return of_host_buffer(buffer)  # pinned memory
        return buffer.context.device_number, of_host_buffer(to_host(buffer))

    def of_array(array: Any) -> Any:
        # Dask forgets the length of an array without buffers.
        is_host = lies_on_host(array) and not pa.types.is_null(array.type)
        return of_host_array(array) if is_host else of_tree(tree_of(array))

    def of_tree(tree: Any) -> Any:
        # The number of nulls follows from the rest, and an array may not know it yet.
        kind, length, _nulls, offset, buffers, children, dictionary = tree
        return (
            "pyarrow_cuda_compat",
            normalize_token(kind),
            length,
            offset,
            list(map(of_part, buffers)),
            list(map(of_tree, children)),
            None if dictionary is None else of_tree(dictionary),
        )

    def of_part(part: Any) -> Any:
        if part is None:
            return None
        return of_buffer(part.buffer if isinstance(part, Part) else part)

    normalize_token.register(pa.Buffer, of_buffer)
    normalize_token.register(pa.Array, of_array)
