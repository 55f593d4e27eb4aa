"""Methods of the extension's classes that Python writes best, which are attached to them.

=============  ==================================================================================
`numba`        contexts, buffers and arrays as Numba's, and back
`files`        files to and from device memory; `kvikio` where GPUDirect Storage can
`tables`       Arrow files into tables on the device
`arrow`        `DeviceArray` from Arrow arrays, and back
`ipc`          `DeviceArray` in other processes
`pickling`     pickles and copies of what lies on a device
=============  ==================================================================================
"""

from typing import Any

from .. import _native
from . import arrow, files, ipc, pickling, tables
from .numba import conversions


def install() -> None:
    """Attaches the methods, once."""
    _attach(
        _native.Context,
        from_numba=staticmethod(conversions.context_from_numba),
        to_numba=conversions.context_to_numba,
        buffer_from_file=files.buffer_from_file,
        table_from_file=tables.table_from_file,
    )
    _attach(
        _native.CudaBuffer,
        from_numba=staticmethod(conversions.buffer_from_numba),
        to_numba=conversions.buffer_to_numba,
        copy_to_file=files.buffer_to_file,
        __reduce_ex__=pickling.reduce_buffer,
    )
    _attach(
        _native.DeviceArray,
        from_arrow=staticmethod(arrow.array_from_arrow),
        to_arrow=arrow.array_to_arrow,
        export_for_ipc=ipc.export_array,
        __reduce_ex__=ipc.reduce_array,
    )


def _attach(cls: type, **methods: Any) -> None:
    for name, method in methods.items():
        function = getattr(method, "__func__", method)
        function.__name__, function.__qualname__ = name, f"{cls.__name__}.{name}"
        setattr(cls, name, method)
