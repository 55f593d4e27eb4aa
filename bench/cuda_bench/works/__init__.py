"""How a row's work is prepared with a peer, and how its result is checked."""

from .compute import Compute
from .copies import Copies
from .memory import Memory
from .together import Together
from .typed import Typed


class Works(Copies, Typed, Memory, Together, Compute):
    """All that a row can measure: methods that take its size and options."""
