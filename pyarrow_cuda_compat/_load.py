"""Makes the extension ready for the imported pyarrow; its classes exist afterwards."""

from __future__ import annotations

import os  # not pathlib: pyarrow does without it, and importing it takes milliseconds
import sys
from collections.abc import Callable
from importlib import import_module

import _pyarrow_cuda_compat_hook as _hook  # type: ignore[import-untyped,unused-ignore]
import pyarrow

from . import _bridges, _extension

_hook.check_names()
_extension.load()

#: Whether Python installed the finder at its start, so that this import was not needed.
WAS_HOOKED = _hook.Finder in sys.meta_path
BRIDGE = _bridges.path_for(pyarrow)
if not os.path.exists(BRIDGE):  # noqa: PTH110
    raise ImportError(_bridges.refusal(pyarrow))

from . import _native, _pickling, _tracing  # noqa: E402  (need a pyarrow that is supported)


def _of(module: str, name: str) -> Callable[..., object]:
    """A function of a module here that is imported by the first call."""

    def function(*arguments: object) -> object:
        found: Callable[..., object] = getattr(import_module(f"{__package__}.{module}"), name)
        return found(*arguments)

    return function


_native._start(
    BRIDGE,
    {
        "context_from_numba": _of("numba", "context_from_numba"),
        "context_to_numba": _of("numba", "context_to_numba"),
        "buffer_from_numba": _of("numba", "buffer_from_numba"),
        "buffer_to_numba": _of("numba", "buffer_to_numba"),
        "buffer_from_file": _of("_files.buffers", "buffer_from_file"),
        "buffer_to_file": _of("_files.buffers", "buffer_to_file"),
        "reduce_buffer": _pickling.reduce_buffer,
        "copy_buffer": _pickling.copy_buffer,
        "array_from_arrow": _of("_arrays.arrow", "array_from_arrow"),
        "array_to_arrow": _of("_arrays.arrow", "array_to_arrow"),
        "reduce_array": _of("_arrays.sharing", "reduce_array"),
        "export_array": _of("_arrays.sharing", "export_array"),
        "array_to_host": _of("memory._writeback", "write_back"),
        "begin_call": _tracing.begin_call,
        "end_call": _tracing.end_call,
    },
)
_hook.install()

from . import _forks, _pyarrow, _watch  # noqa: E402  (need the classes)

_forks.install()
_pickling.register()
_pyarrow.install()
_watch.follow("distributed", f"{__package__}.dask")
for _package in ("numba.cuda", "numba_cuda_mlir.cuda"):
    _watch.follow(_package, f"{__package__}._numba.kernels", "type_arrays")
