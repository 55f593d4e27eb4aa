"""Arguments of Numba kernels, for which Numba asks for its own classes instead of protocols.

Kernels take device arrays by DLPack as they are.  But Numba then makes a tensor to learn no more
than the type of the elements, which takes ten times as long as being told, and DLPack cannot
describe structures and dates.  Streams, and arguments that Numba notifies of a launch, have to be
of Numba's classes.

Nothing here imports Numba: `_runtime.import_hooks` calls these functions after the program has
imported it.
"""

from collections.abc import Callable
from functools import cache, wraps
from importlib import import_module
from typing import Any

from ... import _native
from ..._native import DeviceArray

#: Numba's packages, and where each has the modules that are named alike in both.
PACKAGES = {"numba.cuda": "numba.cuda", "numba_cuda_mlir.cuda": "numba_cuda_mlir.numba_cuda"}
#: Of an array: dtype, number of dimensions, layout, whether it is read-only, and whether its
#: elements are aligned.
Description = tuple[Any, int, str, bool, bool]


def type_arrays(package: str) -> None:
    """Has Numba ask here for the type of a `DeviceArray`."""

    def describe(array: DeviceArray) -> Description:
        layout = layout_of(array.is_c_contiguous(), array.is_f_contiguous())
        is_aligned = are_aligned(array.dtype, array.address, *array.strides)
        return array.dtype, array.ndim, layout, not array.is_mutable, is_aligned

    type_class(package, DeviceArray, describe)


def view_any_strides(package: str) -> None:
    """Has Numba itself view a `DeviceArray` that the protocols refuse or cannot describe, such as a
    field of packed structures, whose elements are not aligned: `type_arrays` has told Numba."""
    root = PACKAGES[package]
    arrays: Any = import_module(f"{root}.cudadrv.devicearray")
    # Versions before 0.29 have the second one only.
    names = ("_to_strided_memory_view", "auto_device")
    name = next(name for name in names if hasattr(arrays, name))
    view = getattr(arrays, name)

    @wraps(view)
    def view_any(obj: Any, *arguments: Any, **options: Any) -> Any:
        try:
            return view(obj, *arguments, **options)
        except (BufferError, ValueError):  # of DLPack, of cuda.core
            if not isinstance(obj, DeviceArray):
                raise
        numbas = import_module(f"{root}.api").as_cuda_array(_Described(obj))
        return view(numbas, *arguments, **options)

    setattr(arrays, name, view_any)


class _Described:
    """An array whose description does not depend on its alignment."""

    def __init__(self, array: DeviceArray) -> None:
        self.array = array

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return _native._interface_of(self.array)


def type_class(package: str, cls: type, describe: Callable[[Any], Description]) -> None:
    """Has a Numba package ask here for the types of the arrays of a class."""
    root = PACKAGES[package]
    numba_types = import_module(f"{root}.types")
    from_dtype = import_module(f"{root}.np.numpy_support").from_dtype
    registry = import_module(f"{root}.typing.typeof").typeof_impl

    @cache
    def type_of(dtype: Any, ndim: int, layout: str, is_read_only: bool, is_aligned: bool) -> Any:
        flags = {"readonly": is_read_only, "aligned": is_aligned}
        return numba_types.Array(from_dtype(dtype), ndim, layout, **flags)

    registry.register(cls)(lambda array, _context: type_of(*describe(array)))


def layout_of(is_c_contiguous: bool, is_f_contiguous: bool) -> str:
    """Numba's letter for the order of an array's elements."""
    return "C" if is_c_contiguous else "F" if is_f_contiguous else "A"


def are_aligned(dtype: Any, *places: int) -> bool:
    """Whether elements at these places are aligned.  A kernel that is not told reads them as if
    they were, which ends in an error that no work of the process survives."""
    return not any(place % dtype.alignment for place in places)


def rebase(ours: type, placeholder: type, base: type) -> None:
    """Makes `ours` a subclass of a Numba class; existing objects change with it.

    `placeholder` is the first base of `ours` until then: Python exchanges that one for another of
    the same layout, and not ``object``.
    """
    first, *rest = ours.__bases__
    kept = [] if first is placeholder else [first]
    ours.__bases__ = (*kept, base, *rest)
