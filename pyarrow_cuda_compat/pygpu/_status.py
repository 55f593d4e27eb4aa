"""Status objects: each call of the device returns one, instead of an exception."""

import threading
from collections.abc import Callable
from operator import index
from typing import TypeVar

from ._error_codes import TEXTS

__all__ = [
    "cudaError_t",
    "cudaGetErrorName",
    "cudaGetErrorString",
    "cudaGetLastError",
    "cudaPeekAtLastError",
]

_T = TypeVar("_T")

_INSUFFICIENT_DRIVER = 35
_UNKNOWN = ("unrecognized error code",) * 2


class cudaError_t:
    """The status of a call: 0 for success, or an error code of the CUDA runtime.  Its argument is a
    code, such as the result of a C function.  Two of the same code are equal, and one is equal to
    its code.  As CUDA's `cudaError_t`.
    """

    __slots__ = ("_code",)

    def __init__(self, code: int) -> None:
        self._code = index(code)

    def as_int(self) -> int:
        """Return the code, which ``int()`` returns, too.  As PyGPU's `cudaError_t.as_int`."""
        return self._code

    def __int__(self) -> int:
        return self._code

    def __eq__(self, other: object) -> bool:
        if isinstance(other, (cudaError_t, int)):
            return self._code == int(other)
        return NotImplemented

    def __hash__(self) -> int:
        return hash(self._code)

    def __repr__(self) -> str:
        return f"<cudaError: code={self._code}>"


SUCCESS = cudaError_t(0)
INVALID_RESOURCE_HANDLE = cudaError_t(400)


class WithStatus:
    """An object of the low-level interface that keeps the status of its calls."""

    _status = SUCCESS

    def last_status(self) -> cudaError_t:
        """Return the status of the object's last call to the device; success before the first one.
        As PyGPU's `DeviceArray_int64.last_status`.
        """
        return self._status


class WithStatusProperty:
    """An object of the high-level interface that keeps the status of its calls."""

    _status = SUCCESS

    @property
    def last_status(self) -> cudaError_t:
        """The status of the object's last call to the device.  It is ``cudaErrorMemoryAllocation``
        (2) if there is not enough memory, or if it cannot be pinned.  As PyGPU's
        `GPUArray.last_status`.
        """
        return self._status


class _Last(threading.local):
    """The thread's last failure, as the runtime keeps it."""

    status = SUCCESS


_last = _Last()


def noted(status: cudaError_t) -> cudaError_t:
    """The same status, which is the thread's last failure if it is one."""
    if status is not SUCCESS:
        _last.status = status
    return status


def attempt(call: Callable[[], object]) -> cudaError_t:
    """Makes a call of the device, and returns its status."""
    return answer(call, None)[1]


def answer(call: Callable[[], _T], otherwise: _T) -> tuple[_T, cudaError_t]:
    """What a call of the device gives, or the other value where it fails; and its status."""
    try:
        return call(), SUCCESS
    except OSError as error:
        # Without a number, the driver itself could not be loaded.
        return otherwise, noted(cudaError_t(getattr(error, "code", _INSUFFICIENT_DRIVER)))


def cudaGetErrorName(error: cudaError_t | int) -> str:
    """Return the name of the error code of a status, or of a bare code.  It is ``"unrecognized
    error code"`` for a code that CUDA does not have.  As CUDA's `cudaGetErrorName`.
    """
    return TEXTS.get(int(error), _UNKNOWN)[0]


def cudaGetErrorString(error: cudaError_t | int) -> str:
    """Return the text of the error code of a status, or of a bare code.  It is ``"unrecognized
    error code"`` for a code that CUDA does not have.  As CUDA's `cudaGetErrorString`.
    """
    return TEXTS.get(int(error), _UNKNOWN)[1]


def cudaGetLastError() -> cudaError_t:
    """Return the last failure of this module's calls on this thread, and forget it.  It is success
    if none has failed since the last question.  As CUDA's `cudaGetLastError`.
    """
    error, _last.status = _last.status, SUCCESS
    return error


def cudaPeekAtLastError() -> cudaError_t:
    """Return the last failure of this module's calls on this thread, and keep it.  It is success if
    none has failed since `cudaGetLastError`.  As CUDA's `cudaPeekAtLastError`.
    """
    return _last.status
