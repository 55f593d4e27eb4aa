"""Watches which addresses of device memory reach other libraries.

Memory whose address nobody else has seen can be reused as soon as it is released.  Otherwise
others may have queued work that uses it.  ``pyarrow.Buffer.address`` is how Python code reads the
address of any buffer, so this package answers for that property.  For a buffer on the host, a call
takes some nanoseconds longer.  With ``PYARROW_CUDA_HOOK=0`` the property stays as it is, and
all memory that pyarrow sees counts as seen by others.
"""

import pyarrow as pa

from .. import _native
from .patching import override


def install() -> None:
    """Answers for the property."""
    override(pa.lib.Buffer, "address", lambda _original, buffer: _native._expose_address(buffer))
    _native._watch_addresses()
