"""Makes the extension ready for the imported pyarrow; its classes exist afterwards."""

from __future__ import annotations

import os  # not pathlib: pyarrow does without it, and importing it takes milliseconds
import sys
from collections.abc import Callable
from importlib import import_module

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

from . import _native, _tracing  # noqa: E402  (needs a pyarrow that is supported)
from ._methods import pickling  # noqa: E402


def _from(module: str, name: str) -> Callable[..., object]:
    """A function of a module here that is imported by the first call."""

    def function(*arguments: object) -> object:
        found: Callable[..., object] = getattr(import_module(f"{PACKAGE}.{module}"), name)
        return found(*arguments)

    return function


# All functions of the package that the extension calls; its side of the table is `package.rs`.
_native._start(
    BRIDGE,
    {
        "context_from_numba": _from("_methods.numba.conversions", "context_from_numba"),
        "context_to_numba": _from("_methods.numba.conversions", "context_to_numba"),
        "buffer_from_numba": _from("_methods.numba.conversions", "buffer_from_numba"),
        "buffer_to_numba": _from("_methods.numba.conversions", "buffer_to_numba"),
        "buffer_from_file": _from("_methods.files", "buffer_from_file"),
        "buffer_to_file": _from("_methods.files", "buffer_to_file"),
        "table_from_file": _from("_methods.tables", "table_from_file"),
        "reduce_buffer": pickling.reduce_buffer,
        "array_from_arrow": _from("_methods.arrow", "array_from_arrow"),
        "array_to_arrow": _from("_methods.arrow", "array_to_arrow"),
        "reduce_array": _from("_methods.ipc", "reduce_array"),
        "export_array": _from("_methods.ipc", "export_array"),
        "begin_call": _tracing.begin_call,
        "end_call": _tracing.end_call,
    },
)
_hook.install()

from . import _patches  # noqa: E402  (needs the classes)
from ._start.import_hooks import follow  # noqa: E402


def _leave_pinned_pool() -> None:
    """Puts the system's pool in the place of a pinned default one: after a fork, nothing is pinned.

    Functions of Arrow such as the CSV reader abort the process if the pool fails.
    """
    if pyarrow.default_memory_pool().backend_name == "pinned":
        pyarrow.set_memory_pool(pyarrow.system_memory_pool())


os.register_at_fork(after_in_child=_leave_pinned_pool)
pickling.register()
_patches.install()
for _package in ("numba.cuda", "numba_cuda_mlir.cuda"):
    follow(_package, f"{PACKAGE}._methods.numba.kernels", "type_arrays")
    follow(_package, f"{PACKAGE}._methods.numba.kernels", "view_any_strides")
follow("distributed", f"{PACKAGE}.dask")
