"""The libraries that are measured; each says how its users would do a thing."""

from .arrow import Ours, Upstream
from .base import NotOffered, Peer
from .compute import OnHost, PyLibcudf
from .others import CuPy, Numba, PyTorch

# Ours first: the others are compared with it.
PEERS: dict[str, type[Peer]] = {
    "ours": Ours,
    "pyarrow": Upstream,
    "cupy": CuPy,
    "torch": PyTorch,
    "numba": Numba,
    "pylibcudf": PyLibcudf,
    "host": OnHost,
}

__all__ = ["PEERS", "NotOffered", "Peer"]
