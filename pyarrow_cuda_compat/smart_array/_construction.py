"""Constructs the memory of a `SmartArray` from a shape and a dtype, or from another array."""

from typing import Any

import numpy as np

from .. import _layouts as layouts
from .. import _native
from .._native import DeviceArray
from ..memory._current_device import current_context
from ..memory._device_memory import is_cuda_array, to_device
from ._coherent import GPU, CoherentArray


def new(shape: Any, dtype: Any, order: str, where: str) -> CoherentArray:
    """An array of a shape and dtype, allocated on one side."""
    shape, dtype, strides = layouts.described(shape, dtype, None, order)
    _check_elements(dtype)
    sides = CoherentArray(shape, dtype, strides)
    sides.allocate(where)
    return sides


def of_object(obj: Any, copy: bool, dtype: Any, order: Any, where: str) -> CoherentArray:
    """A copy of an array of the host or of a device, or its memory itself."""
    if not isinstance(obj, np.ndarray) and is_cuda_array(obj):
        return _of_device(to_device(obj), copy, dtype, order, where)
    _native._check_arrow(obj)
    if where == GPU and copy:
        host = np.asarray(obj, dtype, order)
        _check_elements(host.dtype)
        return CoherentArray.of_device(DeviceArray.from_host(host, context=current_context()))
    host = np.array(obj, dtype, copy=copy or None, order=order or "K")
    _check_elements(host.dtype)
    if not host.flags.c_contiguous and not host.flags.f_contiguous:
        if not copy:
            raise ValueError(layouts.NOT_CONTIGUOUS)
        host = np.ascontiguousarray(host)
    sides = CoherentArray.of_host(host, is_adopted=not copy)
    sides.get(where)
    return sides


def _of_device(array: DeviceArray, copy: bool, dtype: Any, order: Any, where: str) -> CoherentArray:
    is_same = dtype is None or np.dtype(dtype) == array.dtype
    is_dense = array.is_c_contiguous() or array.is_f_contiguous()
    if order is None and is_same and (is_dense or copy):
        sides = CoherentArray.of_device(array.copy() if copy else array)
        sides.get(where)
        return sides
    return of_object(array.copy_to_host(), where == GPU, dtype, order, where)


def is_for_devices(dtype: np.dtype[Any]) -> bool:
    return not dtype.hasobject and dtype.kind not in "SUT"


def _check_elements(dtype: np.dtype[Any]) -> None:
    if not is_for_devices(dtype):
        raise TypeError(f"elements of dtype {dtype} cannot be on a device")
