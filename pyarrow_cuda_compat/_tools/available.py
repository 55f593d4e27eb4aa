"""`is_available`."""

from .. import _native
from .._start.extension import PACKAGE


def is_available() -> bool:
    """Whether a CUDA device can be used: a driver is there, and finds one.

    Makes no context, and never raises.  The simulated device counts.

    Returns
    -------
    bool
        False in a process that was forked after the driver was loaded.

    Examples
    --------
    >>> is_available()
    True
    """
    try:
        return _native.Context.get_num_devices() > 0
    except Exception:
        return False


is_available.__module__ = PACKAGE
