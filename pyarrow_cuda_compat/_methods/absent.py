"""Attributes that arrays of other libraries have, and device arrays do not: what does the same."""

from __future__ import annotations

from typing import Any, NoReturn

_TO_HOST = "array.copy_to_host() returns NumPy's array of the elements"
_COMPUTING = "cupy.asarray(array) has it on the device, array.copy_to_host() on the host"
_WAYS_OUT = {
    "cpu": _TO_HOST,
    "device": "array.context.device_number is the number of its device",
    "get": _TO_HOST,
    "numpy": _TO_HOST,
    "to_numpy": _TO_HOST,
    "to_pylist": _TO_HOST,
    "tolist": _TO_HOST,
}


def attribute_of_array(self: Any, name: str) -> NoReturn:
    """Refuses a name that a device array does not have.

    Raises
    ------
    AttributeError
        Says what to do, if it is a name of another library's arrays.
    """
    text = f"'pyarrow_cuda_compat.{type(self).__name__}' object has no attribute {name!r}"
    if not name.startswith("_") and (way_out := _way_out(name)):
        text += f"; {way_out}"
    raise AttributeError(text, name=name, obj=self)


def _way_out(name: str) -> str | None:
    import numpy as np

    return _WAYS_OUT.get(name) or (_COMPUTING if hasattr(np.ndarray, name) else None)
