"""A working ``pyarrow.cuda`` for the pyarrow on PyPI.

Once the package is installed, you can import its names with ``from pyarrow import cuda`` as well
as from this package.

The package loads the CUDA driver on its first use, not during the import.  Two environment
variables configure it:

=======================  ==========================================================
``PYARROW_CUDA_DRIVER``  the driver library: the real driver by default, ``sim`` for
                         the simulated device, or the path of a library
``PYARROW_CUDA_HOOK``    with ``0``, ``pyarrow.cuda`` does not find this package, and
                         pyarrow's own classes and functions stay unchanged
=======================  ==========================================================

If the driver fails or is missing, and in a forked process, a call raises an `OSError`; if memory
runs out, an `OutOfMemoryError`, which is one.  Docstrings name these where there is more to say.

Examples
--------
>>> import pyarrow_cuda_compat as cuda
>>> buf = ctx.buffer_from_data(b"on the device")
>>> buf.slice(0, 2).to_pybytes()
b'on'
"""

import sys
from importlib import import_module
from typing import TYPE_CHECKING

try:
    from . import _load  # noqa: F401  # isort: skip  (first: it makes the classes)
    from . import _native
    from ._cudf.engine import set_compute_engine as set_compute_engine
    from ._methods.allocation_history import record_allocations as record_allocations
    from ._methods.describing import describe as describe
    from ._methods.ipc import IpcArrayHandle as IpcArrayHandle
    from ._methods.memory_report import memory_report as memory_report
    from ._methods.pickling import RESTORING as _RESTORING
    from ._native import *  # noqa: F403
    from ._native import __version__ as __version__
    from ._tools.available import is_available as is_available
    from ._tools.config import show_config as show_config
    from ._tracing import set_tracing as set_tracing
    from ._tracing import tracing as tracing

    # The extension lists its public names when it registers them.  Type checkers know them from its
    # types instead: they would take a list that is not written out for an empty one, so they do not
    # see the lists.
    _OF_PYTHON = [
        "IpcArrayHandle",
        "describe",
        "is_available",
        "memory_report",
        "record_allocations",
        "set_compute_engine",
        "set_tracing",
        "show_config",
        "tracing",
    ]
    globals()["__all__"] = sorted([*vars(_native)["__all__"], *_OF_PYTHON])
    # The functions that pickles name.
    globals().update((each.__name__, each) for each in _RESTORING)
except Exception:
    # The command `info` says what is wrong; it begins with importing this.
    _is_command = sys.argv[0].endswith("/pyarrow-cuda") if sys.argv else False
    _is_command |= sys.argv[:1] == ["-m"] and any(word.endswith(__name__) for word in sys.orig_argv)
    if not _is_command:
        raise


if TYPE_CHECKING:
    from . import cupy as cupy
    from . import dask as dask
    from . import memory as memory
    from . import numba as numba
    from . import pygpu as pygpu
    from . import rmm as rmm
    from .smart_array import SmartArray as SmartArray
else:
    # Not in `__all__`, whose names are imported at once: few programs use them, and importing them
    # takes milliseconds or needs another package.
    _MODULES = ["cupy", "dask", "memory", "numba", "pygpu", "rmm"]

    def __getattr__(name):
        text = f"module {__name__!r} has no attribute {name!r}"
        if name in _MODULES:
            try:
                return import_module(f".{name}", __name__)
            except ImportError as error:
                # `hasattr` expects it, as do programs that read all that `dir` lists.
                raise AttributeError(f"{text}: {error}", name=name) from error
        if name == "SmartArray":
            from .smart_array import SmartArray

            return SmartArray
        raise AttributeError(text, name=name)

    def __dir__():
        own = (name for name in globals() if name.startswith("__"))
        return sorted({*globals().get("__all__", ()), *_MODULES, "SmartArray", *own})
