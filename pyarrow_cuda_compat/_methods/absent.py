"""Attributes that arrays of other libraries have, and device arrays do not: what does the same."""

from __future__ import annotations

from typing import Any, NoReturn

_TO_HOST = "array.copy_to_host() returns NumPy's array of the elements"
_COMPUTING = "cupy.asarray(array) has it on the device, array.copy_to_host() on the host"
_ELSEWHERE = (
    "array.copy_to_host() copies it to the host, "
    "array.to_arrow().copy_to('cuda:1') to another device"
)
_WAYS_OUT = {
    "clone": "array.copy() copies it on its device",
    "copy_from_host": "array.copy_to_device(values) fills it with values of the host",
    "copy_to": _ELSEWHERE,
    "cpu": _TO_HOST,
    "cuda": _ELSEWHERE,
    "device": "array.context.device_number is the number of its device",
    "get": _TO_HOST,
    "numpy": _TO_HOST,
    "permute": "array.transpose(axes) orders the dimensions",
    "to": _ELSEWHERE,
    "to_dlpack": "from_dlpack of the other library takes the array itself",
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
