"""`SmartArray`: an array that moves between the host and the device by itself."""

from .. import _native  # noqa: F401  # isort: skip  (waits for another thread's import)
from .._methods.numba.kernels import PACKAGES
from .._start.import_hooks import follow
from ._array import SmartArray as SmartArray

for _package in PACKAGES:
    follow(_package, f"{__package__}._numba_kernels", "accept")
follow("numba", f"{__package__}._numba_jit")
