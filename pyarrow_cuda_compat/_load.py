"""Makes the extension ready for the imported pyarrow; its classes exist afterwards."""

from __future__ import annotations

import os  # not pathlib: pyarrow does without it, and importing it takes milliseconds
import sys
from typing import Any

import _pyarrow_cuda_compat_hook as _hook  # type: ignore[import-untyped,unused-ignore]
import pyarrow

from ._start import bridges, extension
from ._start.extension import PACKAGE

_hook.check_names()
extension.load()

#: Whether Python installed the finder at its start, so that this import was not needed.
WAS_HOOKED = _hook.Finder in sys.meta_path
BRIDGE = bridges.path_for(pyarrow)
if not os.path.exists(BRIDGE):  # noqa: PTH110
    raise ImportError(bridges.refusal(pyarrow))

from . import _native  # noqa: E402  (needs a pyarrow that is supported)

_native._start(BRIDGE)
_hook.install()

from . import _patches  # noqa: E402  (needs the classes, as do the others)
from ._methods import (  # noqa: E402
    absent,
    arrow,
    files,
    html,
    ipc,
    matrix,
    pickling,
    readers,
    tables,
)
from ._methods.numba import conversions  # noqa: E402
from ._start.import_hooks import follow  # noqa: E402


def _attach(cls: type, **methods: Any) -> None:
    for name, method in methods.items():
        function = getattr(method, "__func__", method)
        function.__name__, function.__qualname__ = name, f"{cls.__name__}.{name}"
        setattr(cls, name, method)


def _leave_pinned_pool() -> None:
    """Puts the system's pool in the place of a pinned default one: after a fork, nothing is pinned.

    Functions of Arrow such as the CSV reader abort the process if the pool fails.
    """
    if pyarrow.default_memory_pool().backend_name == "pinned":
        pyarrow.set_memory_pool(pyarrow.system_memory_pool())


os.register_at_fork(after_in_child=_leave_pinned_pool)
_attach(
    _native.Context,
    from_numba=staticmethod(conversions.context_from_numba),
    to_numba=conversions.context_to_numba,
    buffer_from_file=files.buffer_from_file,
    table_from_file=tables.table_from_file,
    reader_from_file=readers.reader_from_file,
    _repr_html_=html.of_context,
)
_attach(
    _native.CudaBuffer,
    from_numba=staticmethod(conversions.buffer_from_numba),
    to_numba=conversions.buffer_to_numba,
    copy_to_file=files.buffer_to_file,
    __reduce_ex__=pickling.reduce_buffer,
    _repr_html_=html.of_buffer,
)
_attach(
    _native.DeviceArray,
    from_arrow=staticmethod(arrow.array_from_arrow),
    to_arrow=arrow.array_to_arrow,
    __arrow_array__=arrow.array_for_pyarrow,
    from_columns=staticmethod(matrix.array_from_columns),
    to_columns=matrix.array_to_columns,
    export_for_ipc=ipc.export_array,
    __getattr__=absent.attribute_of_array,
    __reduce_ex__=ipc.reduce_device_array,
    _repr_html_=html.of_array,
)
pickling.register()
_patches.install()
for _package in ("numba.cuda", "numba_cuda_mlir.cuda"):
    follow(_package, f"{PACKAGE}._methods.numba.kernels", "type_arrays")
    follow(_package, f"{PACKAGE}._methods.numba.kernels", "view_any_strides")
follow("distributed", f"{PACKAGE}.dask")
