"""Properties of devices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from .. import _native
from ._devices import ordinal
from ._status import WithStatus, answer

__all__ = ["cudaDeviceProp"]

_T = TypeVar("_T", int, str)

# Fields of `cudaDeviceProp`, and the number of each `CUdevice_attribute`.
_ATTRIBUTES = {
    "maxThreadsPerBlock": 1,
    "sharedMemPerBlock": 8,
    "totalConstMem": 9,
    "warpSize": 10,
    "regsPerBlock": 12,
    "multiProcessorCount": 16,
    "integrated": 18,
    "canMapHostMemory": 19,
    "concurrentKernels": 31,
    "ECCEnabled": 32,
    "pciBusID": 33,
    "pciDeviceID": 34,
    "memoryBusWidth": 37,
    "l2CacheSize": 38,
    "maxThreadsPerMultiProcessor": 39,
    "asyncEngineCount": 40,
    "unifiedAddressing": 41,
    "pciDomainID": 50,
    "major": 75,
    "minor": 76,
    "managedMemory": 83,
}


def _properties(number: int) -> dict[str, Any]:
    device = _native._device(number, free_memory=False)
    found = {"name": device["name"], "totalGlobalMem": device["total_memory"]}
    found["uuid"] = _native._uuid(number).hex()
    for name, attribute in _ATTRIBUTES.items():
        found[name] = _native._device_attribute(number, attribute)
    return found


def _field(name: str, otherwise: _T, text: str) -> Callable[[cudaDeviceProp], _T]:
    """The method that returns a property, or the other value on failure."""

    def field(self: cudaDeviceProp) -> _T:
        found: _T = self._found.get(name, otherwise)
        return found

    field.__name__, field.__qualname__ = name, f"cudaDeviceProp.{name}"
    field.__doc__ = f"Return {text}; {otherwise!r} on failure.  As CUDA's `cudaDeviceProp.{name}`."
    return field


class cudaDeviceProp(WithStatus):
    """The properties of a device, which its number names.  If there is no such device,
    `last_status` is 101, names are empty and numbers are -1.  As CUDA's `cudaDeviceProp`.
    """

    def __init__(self, device: int) -> None:
        number = ordinal(device)
        nothing: dict[str, Any] = {}
        self._found, self._status = answer(lambda: _properties(number), nothing)

    def get(self) -> dict[str, Any]:
        """Return the properties as a dict; empty on failure.  Its keys are names of the fields of
        CUDA's structure; sizes are in bytes.  It is not that structure itself, whose layout changes
        between versions of CUDA.  As CUDA's `cudaDeviceProp`.
        """
        return dict(self._found)

    name = _field("name", "", "the name of the device's model")
    uuid = _field("uuid", "", "what identifies the device in every process, in hexadecimal digits")
    pciBusID = _field("pciBusID", -1, "the number of the device's PCI bus")
    pciDeviceID = _field("pciDeviceID", -1, "the device's number on its PCI bus")
    pciDomainID = _field("pciDomainID", -1, "the number of the device's PCI domain")
