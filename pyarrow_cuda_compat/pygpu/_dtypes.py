"""The ten types of elements."""

from enum import IntEnum
from typing import Any, ClassVar, TypeVar

import numpy as np

__all__ = ["SUPPORTED_DTYPES", "UnsupportedDataType", "dtype"]


class _Size:
    """The number of types, where PyGPU's enumeration has a member."""

    value = 10


class dtype(IntEnum):
    """The ten types of elements, and aliases with the names of C's types, such as ``double_alias``.
    Their number is ``dtype.__size__.value``.  As PyGPU's `dtype`.
    """

    int16 = 0
    int32 = 1
    int64 = 2
    uint16 = 3
    uint32 = 4
    uint64 = 5
    float32 = 6
    float64 = 7
    complex64 = 8
    complex128 = 9

    short_alias = int16
    int_alias = int32
    long_alias = int64
    unsigned_short_alias = uint16
    unsigned_alias = uint32
    unsigned_int_alias = uint32
    unsigned_long_alias = uint64
    float_alias = float32
    double_alias = float64
    complex64_alias = complex64
    complex128_alias = complex128

    __size__ = _Size


SUPPORTED_DTYPES = tuple(each.name for each in dtype)


class UnsupportedDataType(TypeError):
    """The type of the elements is not one of `SUPPORTED_DTYPES`, or there is no array.  Here it is
    a `TypeError`.  As PyGPU's `UnsupportedDataType`.
    """

    __module__ = "pyarrow_cuda_compat.pygpu"


def supported(wanted: Any) -> np.dtype[Any]:
    """The type that a name, a class or a dtype names."""
    found: np.dtype[Any] = np.dtype(wanted)
    if found.name not in SUPPORTED_DTYPES or not found.isnative:
        raise UnsupportedDataType(
            f"data type {found.name if found.isnative else found.str!r} is not supported: "
            f"it is none of {', '.join(SUPPORTED_DTYPES)} of this machine's byte order"
        )
    return found


_Class = TypeVar("_Class")


def for_each_type(base: type[_Class], prefix: str) -> list[type[_Class]]:
    """A subclass of `base` for each of the types, in their order."""
    contents = {"__module__": base.__module__}
    return [type(f"{prefix}_{name}", (base,), contents) for name in SUPPORTED_DTYPES]


class Typed:
    """What has one of the types: the one that the class's name ends with."""

    _dtype: ClassVar[np.dtype[Any]]

    def __init_subclass__(cls) -> None:
        name = cls.__name__.rpartition("_")[2]
        if name in SUPPORTED_DTYPES:
            cls._dtype = np.dtype(name)
            # Its base describes it for all types.
            cls.__doc__ = cls.__doc__ or (cls.__base__.__doc__ or "").replace("int64", name)
