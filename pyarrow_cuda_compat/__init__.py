"""A working ``pyarrow.cuda`` for the pyarrow of PyPI.

``from pyarrow import cuda`` gives these names once the package is installed; importing them
from here does as well.

The CUDA driver is loaded when it is first needed, not by the import.  Two environment
variables decide what is used:

=============================  ==========================================================
``PYARROW_CUDA_DRIVER``        which driver is used: the real one by default, ``sim`` for
                               the simulated device, or a library's path
``PYARROW_CUDA_COMPAT_HOOK``   ``0`` keeps ``pyarrow.cuda`` from finding this package, and
                               leaves the methods of pyarrow's own arrays as they are
=============================  ==========================================================

Examples
--------
>>> import pyarrow_cuda_compat as cuda
>>> ctx = cuda.Context(0)
>>> buf = ctx.buffer_from_data(b"on the device")
>>> buf.slice(0, 2).to_pybytes()
b'on'
"""

from __future__ import annotations

import sys

try:
    from . import _load as _load  # first: it makes the classes
    from . import _native
    from ._native import *  # noqa: F403
    from .dlpack import to_dlpack as to_dlpack

    # The extension lists its public names when it registers them.  Type checkers know them from its
    # types instead: they would take a list that is not written out for an empty one, so they do not
    # see the lists.
    globals()["__all__"] = sorted([*vars(_native)["__all__"], "to_dlpack"])
except Exception:
    # `python -m pyarrow_cuda_compat info` says what is wrong; it begins with importing this.
    if sys.argv[:1] != ["-m"] or not any(word.endswith(__name__) for word in sys.orig_argv):
        raise

__version__ = "0.1.0"
