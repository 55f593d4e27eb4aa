"""Changes pyarrow's own classes and functions in place, since other libraries use these."""

from __future__ import annotations

from . import addresses, copy_to, device_arrays, device_streams, guards, tables


def install() -> None:
    """Makes all changes, once each, if ``PYARROW_CUDA_HOOK`` allows it."""
    addresses.watch()
    device_arrays.install()
    copy_to.install()
    tables.install()
    device_streams.install()
    guards.install()
