"""Registers pyarrow's objects with dask-cuda, which spills device memory to the host.

Buffers and device arrays have the CUDA array interface, by which dask-cuda finds them.
"""

from importlib import import_module

import pyarrow as pa

from .._data import lies_on_host


def register(package: str) -> None:
    """Registers the classes whose objects may lie on a device."""
    is_device_object = import_module(f"{package}.is_device_object").is_device_object
    for kind in (pa.Array, pa.ChunkedArray, pa.RecordBatch, pa.Table):
        is_device_object.register(kind, lambda value: not lies_on_host(value))
