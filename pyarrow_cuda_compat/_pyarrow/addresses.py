"""Watches which addresses of device memory reach other libraries.

Memory whose address nobody else has seen can be reused as soon as it is released.  Otherwise
others may have queued work that uses it.  ``pyarrow.Buffer.address`` is how Python code reads the
address of any buffer, so this package replaces that property.  For a buffer on the host, a call
takes some nanoseconds longer.  With ``PYARROW_CUDA_HOOK=0`` the property stays as it is, and
all memory that pyarrow sees counts as seen by others.
"""

from typing import Any

import pyarrow as pa

from .. import _native
from .patching import replace


def _watched(original: Any) -> property:
    refusing = (original.__set__, original.__delete__)  # in the interpreter's own words
    return property(_native._expose_address, *refusing, original.__doc__)


def install() -> None:
    """Replaces the property, once."""
    is_replaced = isinstance(pa.lib.Buffer.address, property)
    if is_replaced or replace(pa.lib.Buffer, "address", _watched):
        _native._watch_addresses()
