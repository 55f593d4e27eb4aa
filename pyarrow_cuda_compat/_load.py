"""Makes the extension ready for the imported pyarrow; its classes exist afterwards."""

from __future__ import annotations

import os  # not pathlib: pyarrow does without it, and importing it takes milliseconds
import sys

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

from . import _methods, _patches  # noqa: E402  (need the classes)
from ._methods import pickling  # noqa: E402
from ._start.import_hooks import follow  # noqa: E402


def _leave_pinned_pool() -> None:
    """Puts the system's pool in the place of a pinned default one: after a fork, nothing is pinned.

    Functions of Arrow such as the CSV reader abort the process if the pool fails.
    """
    if pyarrow.default_memory_pool().backend_name == "pinned":
        pyarrow.set_memory_pool(pyarrow.system_memory_pool())


os.register_at_fork(after_in_child=_leave_pinned_pool)
_methods.install()
pickling.register()
_patches.install()
for _package in ("numba.cuda", "numba_cuda_mlir.cuda"):
    follow(_package, f"{PACKAGE}._methods.numba.kernels", "type_arrays")
    follow(_package, f"{PACKAGE}._methods.numba.kernels", "view_any_strides")
follow("distributed", f"{PACKAGE}.dask")
