"""Numba's memory API over this package's arrays.

The functions that ``numba.cuda`` documents for the memory of the host and of the device, with its
names, parameters and defaults.  The arrays on the device are `DeviceArray`; kernels of Numba take
them and the streams of this module, and host code runs with the import changed::

    from numba import cuda                       # the kernels
    from pyarrow_cuda_compat import memory       # instead of cuda.to_device and so on

Importing this module does not import Numba.

Examples
--------
>>> array = memory.to_device(np.arange(4).reshape(2, 2))
>>> array[:, 1].copy_to_host()
array([1, 3])
"""

from .. import _native  # noqa: F401  # isort: skip  (waits for another thread's import)
from ._current_device import current_context, defer_cleanup, select_device, synchronize
from ._device_memory import (
    DeviceNDArray,
    as_cuda_array,
    device_array,
    device_array_like,
    from_cuda_array_interface,
    is_cuda_array,
    open_ipc_array,
    to_device,
)
from ._mapped_memory import MappedNDArray, mapped_array, mapped_array_like
from ._pinned_memory import mapped, pinned, pinned_array, pinned_array_like
from ._streams import (
    Stream,
    default_stream,
    event,
    event_elapsed_time,
    external_stream,
    legacy_default_stream,
    per_thread_default_stream,
    stream,
)

__all__ = [
    "DeviceNDArray",
    "MappedNDArray",
    "Stream",
    "as_cuda_array",
    "current_context",
    "default_stream",
    "defer_cleanup",
    "device_array",
    "device_array_like",
    "event",
    "event_elapsed_time",
    "external_stream",
    "from_cuda_array_interface",
    "is_cuda_array",
    "legacy_default_stream",
    "mapped",
    "mapped_array",
    "mapped_array_like",
    "open_ipc_array",
    "per_thread_default_stream",
    "pinned",
    "pinned_array",
    "pinned_array_like",
    "select_device",
    "stream",
    "synchronize",
    "to_device",
]
