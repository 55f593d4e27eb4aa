"""A working ``pyarrow.cuda`` for the pyarrow of PyPI.

``from pyarrow import cuda`` gives the same names once this package is installed; importing
them from here does as well::

    import pyarrow_cuda_compat as cuda

    ctx = cuda.Context(0)

The CUDA driver is loaded when it is first needed, not by the import.  The environment
variable ``PYARROW_CUDA_DRIVER`` chooses another one: ``sim`` for the simulated device, or a
library's path.
"""

from __future__ import annotations

from pathlib import Path

import pyarrow

_SUPPORTED = (25, 26)

if pyarrow.cpp_version_info.major not in _SUPPORTED:
    _versions = " and ".join(map(str, _SUPPORTED))
    raise ImportError(
        f"pyarrow_cuda_compat supports pyarrow {_versions}, but pyarrow {pyarrow.__version__} "
        "is installed"
    )

import _pyarrow_cuda_compat_hook as _hook  # noqa: E402

from . import _native  # noqa: E402  (needs a pyarrow that is supported)

_native._start(
    Path(__file__).parent / "lib" / f"libarrow_bridge_{pyarrow.cpp_version_info.major}.so"
)
_hook.install()

from ._native import (  # noqa: E402  (the classes exist once the bridge is loaded)
    BufferReader,
    BufferWriter,
    Context,
    CudaBuffer,
    HostBuffer,
    IpcMemHandle,
    new_host_buffer,
    read_message,
    read_record_batch,
    serialize_record_batch,
)

__version__ = "0.1.0"

__all__ = [
    "BufferReader",
    "BufferWriter",
    "Context",
    "CudaBuffer",
    "HostBuffer",
    "IpcMemHandle",
    "new_host_buffer",
    "read_message",
    "read_record_batch",
    "serialize_record_batch",
]
