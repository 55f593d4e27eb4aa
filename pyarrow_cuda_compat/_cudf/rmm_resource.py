"""libcudf's memory: RMM allocates it from this package, unless the program has chosen otherwise."""

from __future__ import annotations

import threading
from typing import Any

from .. import _native
from .refusals import UnsupportedLocation

#: Held for a few lines only, which do not wait.  A finalizer among them may need it.
_lock = threading.RLock()
#: By the number of a device: the context for which RMM was asked, and the resource that it got.
_shared: dict[int, tuple[Any, Any]] = {}


def share_memory(context: Any) -> None:
    """Has RMM allocate from this package, unless the program has made another choice.

    Raises
    ------
    UnsupportedLocation
        If the context is not the primary one of its device.
    """
    device = context.device_number
    before, ours = _shared.get(device, (None, None))
    if before == context:
        return
    if context != _native.Context(device):
        raise UnsupportedLocation(
            "libcudf computes in the primary context of a device, and this is another"
        )
    _set_resource(context, ours)


def _set_resource(context: Any, ours: Any) -> None:
    """Has RMM allocate from the context, unless another thread has replaced our resource."""
    import rmm.mr  # type: ignore[import-not-found,unused-ignore]

    from ..rmm import memory_resource

    device, made = context.device_number, memory_resource(context)
    # Another thread's first call would take a resource of ours for the program's.
    with _lock:
        chosen = rmm.mr.get_per_device_resource(device)
        before, latest = _shared.get(device, (None, None))
        if before == context or latest is not ours:
            return
        # After a reset of the device, ours is of a context that is gone.
        if type(chosen) is rmm.mr.CudaMemoryResource or (ours is not None and chosen is ours):
            ours = made
            rmm.mr.set_per_device_resource(device, ours)
        _shared[device] = context, ours
