"""The libraries that are measured; each says how its users would do a thing."""

from __future__ import annotations

from .base import Call, Missing, NotOffered, Peer
from .cupy import CuPy
from .numba import Numba
from .ours import Ours
from .torch import PyTorch
from .upstream import Upstream

# Ours first: the others are compared with it.
PEERS: dict[str, type[Peer]] = {
    "ours": Ours,
    "pyarrow": Upstream,
    "cupy": CuPy,
    "torch": PyTorch,
    "numba": Numba,
}

__all__ = ["PEERS", "Call", "Missing", "NotOffered", "Peer"]
