"""Pickles and copies generic buffers on a device, such as those of arrays, as a `CudaBuffer`."""

from typing import Any

import pyarrow as pa

from .. import _native
from .._methods.pickling import reduce_buffer
from .patching import Method, override


def _reduce(_original: Method, buffer: Any, protocol: Any) -> tuple[Any, ...]:
    return reduce_buffer(_native.CudaBuffer.from_buffer(buffer), protocol)


def install() -> None:
    """Answers for the method."""
    override(pa.lib.Buffer, "__reduce_ex__", _reduce, "any")
