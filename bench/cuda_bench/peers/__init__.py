"""The libraries that are measured; each says how its users would do a thing."""

from __future__ import annotations

from .arrow import Ours, Upstream
from .base import Call, Missing, NotOffered, Peer
from .cupy import CuPy
from .numba import Numba
from .torch import PyTorch

# Ours first: the others are compared with it.
PEERS: dict[str, type[Peer]] = {
    "ours": Ours,
    "pyarrow": Upstream,
    "cupy": CuPy,
    "torch": PyTorch,
    "numba": Numba,
}

__all__ = ["PEERS", "Call", "Missing", "NotOffered", "Peer"]
