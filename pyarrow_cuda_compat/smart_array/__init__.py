"""`SmartArray`: an array that moves between the host and the device by itself."""

from __future__ import annotations

from .. import _watch
from .._numba.kernels import PACKAGES
from ._array import SmartArray as SmartArray

for _package in PACKAGES:
    _watch.follow(_package, f"{__package__}._kernels", "accept")
_watch.follow("numba", f"{__package__}._functions")
