"""The device that the calling thread works on."""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .._native import Context

_chosen = threading.local()


def current_context() -> Context:
    """The context that the functions of this module work in, on the calling thread.  It is the
    primary context of the device that `select_device` has chosen; of the first device before.  As
    `numba.cuda.current_context`.
    """
    # Not a context that is kept: after a reset of the device it would be gone.
    return Context(getattr(_chosen, "device_id", 0))


def select_device(device_id: int | str) -> Context:
    """Have the calling thread work on a device from now on, and return its primary context.  The
    device's name, such as ``"cuda:1"``, will do.  If the program has imported Numba's CUDA support,
    Numba selects the device as well.  So its kernels find the arrays that this module makes.  It
    raises a `ValueError` if the device does not exist.  As `numba.cuda.select_device`.
    """
    context = Context(device_id)
    numba: Any = sys.modules.get("numba.cuda")
    # Not `is_available()`, which asks for the compiler, too.
    if numba is not None and numba.cudadrv.driver.driver.is_available:
        numba.select_device(context.device_number)
    _chosen.device_id = context.device_number
    return context


def synchronize() -> None:
    """Wait until the device has completed all work that was queued in the current context.  It
    raises an `OSError` if queued work has failed.  As `numba.cuda.synchronize`.
    """
    current_context().synchronize()


@contextmanager
def defer_cleanup() -> Iterator[None]:
    """Do nothing, at the beginning and at the end of a ``with`` block.  Numba delays releases
    within such a block, since each release of its own waits for the device.  Releases here never
    wait: the memory is cached until the device is through with it.  As `numba.cuda.defer_cleanup`.
    """
    yield
