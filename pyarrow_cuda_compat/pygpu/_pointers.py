"""Pointers as objects.

A pointer retains the memory that it points to.  One to memory of the host that Python owns is safe,
and gives access to it; one to device memory gives its address only.
"""

import ctypes
from typing import Any, Self

import numpy as np

from ._dtypes import Typed, for_each_type


class Pointer:
    """An address, and what keeps the memory there."""

    _label = "void"

    def __init__(self) -> None:
        self._address = 0
        self._owner: object = None

    @classmethod
    def _of(cls, address: int, owner: object) -> Self:
        pointer = cls()
        pointer._address, pointer._owner = address, owner
        return pointer

    def is_safe(self) -> bool:
        """Return whether the pointer points to memory of the host that Python owns.  Those to
        device memory and to nothing are not safe.  As PyGPU's `pointer_wrapper_int64.is_safe`.
        """
        return isinstance(self._owner, np.ndarray)

    def print_address(self) -> None:
        """Print the address in hexadecimal.  As PyGPU's `pointer_wrapper_int64.print_address`."""
        print(f"address: {self._address:#x}")

    @property
    def _as_parameter_(self) -> ctypes.c_void_p:
        """What ctypes passes to a C function."""
        return ctypes.c_void_p(self._address)

    def __int__(self) -> int:
        return self._address

    def __repr__(self) -> str:
        return (
            f"<pointer_wrapper<{self._label}>, is_safe={int(self.is_safe())}, addr={self._address}>"
        )


class EventPointer(Pointer):
    """The ``cudaEvent_t`` of C."""

    _label = "CUevent_st"


class StreamPointer(Pointer):
    """The ``cudaStream_t`` of C."""

    _label = "CUstream_st"


class TypedPointer(Typed, Pointer):
    """A pointer to elements of type ``int64``, which retains their memory.  ``int()`` of it is the
    address.  C functions that are called with ctypes accept it as it is.  As PyGPU's
    `pointer_wrapper_int64`.
    """

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls._label = cls._dtype.name

    def create(self, size: int) -> None:
        """Allocate memory of the host for `size` elements, uninitialised, and point to it.  A
        negative size raises a `ValueError`.  As PyGPU's `pointer_wrapper_int64.create`.
        """
        self._point_to(np.empty(size, self._dtype))

    def destroy(self) -> None:
        """Point to nothing.  The memory is released with the last pointer or array over it.  As
        PyGPU's `pointer_wrapper_int64.destroy`.
        """
        self._address, self._owner = 0, None

    def get(self) -> np.ndarray[Any, Any]:
        """Return the host's array itself that a safe pointer points to, not a copy.  Any other
        pointer raises a `ValueError`, because Python cannot access the memory.  As PyGPU's
        `pointer_wrapper_int64.get`.
        """
        if not isinstance(self._owner, np.ndarray):
            what = "device memory" if self._address else "nothing"
            raise ValueError(
                f"the pointer is not safe: it points to {what}, and Python can access only memory "
                "of the host that it owns; int() gives the address"
            )
        return self._owner

    @classmethod
    def _to(cls, array: np.ndarray[Any, Any]) -> Self:
        """A safe pointer."""
        pointer = cls()
        pointer._point_to(array)
        return pointer

    def _point_to(self, array: np.ndarray[Any, Any]) -> None:
        self._address, self._owner = array.ctypes.data, array


(
    pointer_wrapper_int16,
    pointer_wrapper_int32,
    pointer_wrapper_int64,
    pointer_wrapper_uint16,
    pointer_wrapper_uint32,
    pointer_wrapper_uint64,
    pointer_wrapper_float32,
    pointer_wrapper_float64,
    pointer_wrapper_complex64,
    pointer_wrapper_complex128,
) = for_each_type(TypedPointer, "pointer_wrapper")

POINTERS = {pointer._dtype.name: pointer for pointer in TypedPointer.__subclasses__()}
# Out of sight of type checkers, which would take a list that is not written out for an empty one.
globals()["__all__"] = [pointer.__name__ for pointer in POINTERS.values()]
