"""Arguments of Numba kernels, for which Numba asks for its own classes instead of protocols.

Kernels accept device arrays by DLPack.  But Numba then makes a tensor only to learn the type of the
elements, which takes ten times as long as passing the type.  And DLPack cannot describe structures
and dates.  Streams, and arguments that Numba notifies of a launch, must be of Numba's classes.

Nothing here imports Numba: `_start.import_hooks` calls these functions after the program has
imported it.
"""

from collections.abc import Callable
from functools import cache, wraps
from importlib import import_module
from typing import Any

import pyarrow as pa

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
    registry = _registry(package)

    def type_arrow(array: Any, context: Any) -> Any:
        need_reachable(array)
        return registry.dispatch(object)(array, context)

    for cls in _ARROW:
        registry.register(cls)(type_arrow)


#: Arrow's classes that DLPack describes.
_ARROW = (pa.Array, pa.Tensor)


def need_reachable(array: Any) -> None:
    """Refuses an Arrow array or tensor that kernels cannot read: Numba would pass them the address
    of any that DLPack describes, and the fault ends the context."""
    if isinstance(array, pa.Tensor):
        parts = [(array.to_numpy().ctypes.data, array.size)]
    else:
        parts = [(it.address, it.size) for it in array.buffers() if it is not None and it.is_cpu]
    for address, size in parts:
        try:
            for place in (address, address + size - 1) if size else ():
                context = _native.Context(_native._current_device() or 0)
                context.get_device_address(place)
        except (OSError, ValueError):
            raise TypeError(
                f"a kernel cannot read this {type(array).__name__} on the host: pass a copy on the "
                "device, which copy_to(pyarrow.cuda.Context(0)) makes of an array, or an array in "
                "pinned memory"
            ) from None


def view_any_strides(package: str) -> None:
    """Has Numba itself view a `DeviceArray` that the protocols refuse or cannot describe, such as a
    field of packed structures, whose elements are not aligned: `type_arrays` has told Numba.  Has
    it refuse Arrow's arrays on the host also where a kernel's types are given."""
    root = PACKAGES[package]
    arrays: Any = import_module(f"{root}.cudadrv.devicearray")
    # Versions before 0.29 have the second one only.
    names = ("_to_strided_memory_view", "auto_device")
    name = next(name for name in names if hasattr(arrays, name))
    view = getattr(arrays, name)

    @wraps(view)
    def view_any(obj: Any, *arguments: Any, **options: Any) -> Any:
        if isinstance(obj, _ARROW):
            need_reachable(obj)
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

    @cache
    def type_of(dtype: Any, ndim: int, layout: str, is_read_only: bool, is_aligned: bool) -> Any:
        flags = {"readonly": is_read_only, "aligned": is_aligned}
        return numba_types.Array(from_dtype(dtype), ndim, layout, **flags)

    def typed(array: Any, _context: Any) -> Any:
        dtype, *facts = describe(array)
        # Packed structures equal others whose members are aligned.
        return (type_of if dtype.names is None else type_of.__wrapped__)(dtype, *facts)

    _registry(package).register(cls)(typed)


def _registry(package: str) -> Any:
    """The function by which Numba asks for types, by class."""
    return import_module(f"{PACKAGES[package]}.typing.typeof").typeof_impl


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
