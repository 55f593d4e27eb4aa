"""Makes the extension ready for the imported pyarrow; its classes exist afterwards."""

from __future__ import annotations

import os  # not pathlib: pyarrow does without it, and importing it takes milliseconds

import pyarrow

SUPPORTED = (25, 26)

if pyarrow.cpp_version_info.major not in SUPPORTED:
    _versions = " and ".join(map(str, SUPPORTED))
    raise ImportError(
        f"pyarrow_cuda_compat supports pyarrow {_versions}, but pyarrow {pyarrow.__version__} "
        "is installed"
    )

import _pyarrow_cuda_compat_hook as _hook  # type: ignore[import-untyped,unused-ignore] # noqa: E402

from . import _native  # noqa: E402  (needs a pyarrow that is supported)

_BRIDGE = f"libarrow_bridge_{pyarrow.cpp_version_info.major}.so"
BRIDGE = os.path.join(os.path.dirname(__file__), "lib", _BRIDGE)  # noqa: PTH118, PTH120

_native._start(BRIDGE)
_hook.install()

from . import _device_arrays, _watch, pickling  # noqa: E402  (need the classes)

pickling.register()
_device_arrays.install()
_watch.follow("distributed", f"{__package__}.dask")
