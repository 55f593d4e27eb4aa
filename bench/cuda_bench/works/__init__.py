"""How a row's work is prepared with a peer, and how its result is checked."""

from .base import Setup
from .copies import Copies
from .memory import Memory
from .together import Together
from .typed import Typed

__all__ = ["Setup", "Works"]


class Works(Copies, Typed, Memory, Together):
    """All that a row can measure: methods that take its size and options."""
