"""The current device of each thread: chosen, synchronized, reset."""

import threading
from operator import index

from .. import _native
from ._status import SUCCESS, answer, attempt, cudaError_t

__all__ = [
    "cudaDeviceReset",
    "cudaDeviceSynchronize",
    "cudaGetDevice",
    "cudaGetDeviceCount",
    "cudaSetDevice",
]

# For the driver, which knows only numbers from 0 on.
_NO_DEVICE = 2**31 - 1


class _Chosen(threading.local):
    """What the thread has chosen, for as long as no context is current there."""

    number = 0


_chosen = _Chosen()


def ordinal(device: int) -> int:
    """The number of a device, or one that no device has."""
    number = index(device)
    return number if 0 <= number < _NO_DEVICE else _NO_DEVICE


def current_context() -> _native.Context:
    """The primary context of the current device.

    It becomes the thread's current context if none is, as with each call of the CUDA runtime.  So
    a C function that uses the runtime works on the same device.
    """
    number = _native._current_device()
    if number is None:
        number = _chosen.number
        _native._set_current_device(number)
    return _native.Context(number)


def _current_number() -> int:
    number = _native._current_device()
    return _chosen.number if number is None else number


def cudaSetDevice(device: int) -> cudaError_t:
    """Choose the device that the calls of this thread work on.  Its primary context becomes the
    thread's current context, for other libraries in the process as well.  The status is
    ``cudaErrorInvalidDevice`` (101) if there is no such device.  As CUDA's `cudaSetDevice`.
    """
    number = ordinal(device)
    status = attempt(lambda: _native._set_current_device(number))
    if status is SUCCESS:
        _chosen.number = number
    return status


def cudaGetDevice() -> tuple[int, cudaError_t]:
    """Return the number of the device that the calls of this thread work on, and a status.  It is
    the device whose context is current, whichever library made it current.  The number is 0 before
    one was chosen, and -1 on failure.  As CUDA's `cudaGetDevice`.
    """
    return answer(_current_number, -1)


def cudaGetDeviceCount() -> tuple[int, cudaError_t]:
    """Return the number of devices, 0 on failure, and a status.  That is ``cudaErrorNoDevice``
    (100) without a device, and ``cudaErrorInsufficientDriver`` (35) without a driver.  As CUDA's
    `cudaGetDeviceCount`.
    """
    return answer(_native.Context.get_num_devices, 0)


def cudaDeviceSynchronize() -> cudaError_t:
    """Wait until the current device has completed all work queued so far.  The status is the
    failure of earlier work, if any has failed.  As CUDA's `cudaDeviceSynchronize`.
    """
    return attempt(lambda: current_context().synchronize())


def cudaDeviceReset() -> cudaError_t:
    """Destroy all memory, streams and events of this process on the current device, also those of
    other libraries.  Later calls with what was there return ``cudaErrorDeviceUninitialized`` (201);
    new arrays, streams and events work.  Pinned memory is destroyed, too: the process crashes if it
    uses an array of NumPy over it (`PagelockedAllocator.get`).  The call first waits for the work
    of other devices, which may use that memory.  As CUDA's `cudaDeviceReset`.
    """
    number, status = cudaGetDevice()
    if status is not SUCCESS:
        return status
    status = attempt(lambda: _native._reset_device(number))
    # No context is current any more.
    _chosen.number = number
    return status
