"""A `SmartArray` as an argument of Numba kernels.

Numba's own hints about arguments (``In``, ``Out``) are asked for the array on the device, and may
leave functions to be called right after the launch.  A `SmartArray` is such a hint.  Kernels of
numba-cuda-mlir take it by its CUDA array interface instead.
"""

from functools import partial
from importlib import import_module
from typing import Any

from .._layouts import is_dense
from .._methods.numba.kernels import (
    PACKAGES,
    Description,
    are_aligned,
    layout_of,
    rebase,
    type_class,
)
from ._array import SmartArray, _ArgHint


def accept(package: str) -> None:
    """Makes the kernels of a Numba package accept SmartArrays."""

    def describe(array: SmartArray) -> Description:
        in_c, in_f = (is_dense(array.shape, array.strides, array.itemsize, order) for order in "CF")
        device, view = array._sides.device, array._view
        # Memory that is not there yet will be aligned, and mutable.
        address = (0 if device is None else device.address) + (0 if view is None else view.offset)
        is_aligned = are_aligned(array.dtype, address, *array.strides)
        is_mutable = (device is None or device.is_mutable) and (view is None or view.is_writable)
        return array.dtype, array.ndim, layout_of(in_c, in_f), not is_mutable, is_aligned

    type_class(package, SmartArray, describe)
    if package == "numba.cuda":
        rebase(SmartArray, _ArgHint, _hint_class(import_module(f"{PACKAGES[package]}.args")))


def _hint_class(hints: Any) -> type:
    class KernelArgument(hints.ArgHint):  # type: ignore[misc]
        @property
        def _numba_type_(self) -> Any:
            raise AttributeError  # compiled functions of the host ask for it as well

        def to_device(self, retr: list[Any], stream: Any = 0) -> Any:
            assert isinstance(self, SmartArray)
            array = self._part_on_device(self._sides.get_for_kernel())
            retr.append(partial(self._sides.launched, stream))
            return hints.In(array).to_device(retr, stream)

    return KernelArgument
