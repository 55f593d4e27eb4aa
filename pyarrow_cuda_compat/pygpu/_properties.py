"""Properties of devices."""

from __future__ import annotations

from typing import Any

from .. import _native
from ._devices import ordinal
from ._status import answer, cudaError_t

__all__ = ["cudaDeviceProp"]

# The fields of the runtime's structure that are attributes of the driver, by their numbers there.
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


class cudaDeviceProp:
    """The properties of a device.

    Parameters
    ----------
    device : int
        The number of the device.  If there is no such device, `last_status` is 101, names are
        empty and numbers are -1.

    Examples
    --------
    >>> import pyarrow_cuda_compat.pygpu as gpuarray
    >>> properties = gpuarray.cudaDeviceProp(0)
    >>> properties.last_status()
    <cudaError: code=0>
    >>> len(properties.uuid())
    32
    """

    def __init__(self, device: int) -> None:
        number = ordinal(device)
        nothing: dict[str, Any] = {}
        self._found, self._status = answer(lambda: _properties(number), nothing)

    def get(self) -> dict[str, Any]:
        """Return the properties as a dict.

        Its keys are names of the fields of CUDA's ``cudaDeviceProp``.  It is no C structure,
        whose layout changes between versions of CUDA.

        Returns
        -------
        properties : dict of str to str or int
            Sizes in bytes; empty on failure.

        Examples
        --------
        >>> import pyarrow_cuda_compat.pygpu as gpuarray
        >>> gpuarray.cudaDeviceProp(0).get()["warpSize"]
        32
        """
        return dict(self._found)

    def name(self) -> str:
        """Return the name of the device's model.

        Returns
        -------
        name : str

        Examples
        --------
        >>> import pyarrow_cuda_compat.pygpu as gpuarray
        >>> gpuarray.cudaDeviceProp(0).name() != ""
        True
        """
        return str(self._found.get("name", ""))

    def uuid(self) -> str:
        """Return what identifies the device in every process.

        Returns
        -------
        uuid : str
            16 bytes as hexadecimal digits.

        Examples
        --------
        >>> import pyarrow_cuda_compat.pygpu as gpuarray
        >>> len(bytes.fromhex(gpuarray.cudaDeviceProp(0).uuid()))
        16
        """
        return str(self._found.get("uuid", ""))

    def pciBusID(self) -> int:
        """Return the number of the device's PCI bus.

        Returns
        -------
        number : int

        Examples
        --------
        >>> import pyarrow_cuda_compat.pygpu as gpuarray
        >>> gpuarray.cudaDeviceProp(0).pciBusID() >= 0
        True
        """
        return int(self._found.get("pciBusID", -1))

    def pciDeviceID(self) -> int:
        """Return the device's number on its PCI bus.

        Returns
        -------
        number : int

        Examples
        --------
        >>> import pyarrow_cuda_compat.pygpu as gpuarray
        >>> gpuarray.cudaDeviceProp(0).pciDeviceID() >= 0
        True
        """
        return int(self._found.get("pciDeviceID", -1))

    def pciDomainID(self) -> int:
        """Return the number of the device's PCI domain.

        Returns
        -------
        number : int

        Examples
        --------
        >>> import pyarrow_cuda_compat.pygpu as gpuarray
        >>> gpuarray.cudaDeviceProp(0).pciDomainID() >= 0
        True
        """
        return int(self._found.get("pciDomainID", -1))

    def last_status(self) -> cudaError_t:
        """Return the status of the query.

        Returns
        -------
        status : cudaError_t

        Examples
        --------
        >>> import pyarrow_cuda_compat.pygpu as gpuarray
        >>> gpuarray.cudaDeviceProp(1000).last_status()
        <cudaError: code=101>
        """
        return self._status
