"""PyGPU's interface: arrays for device code of your own.

Code that was written for PyGPU (also called PybindGPU) runs with one line changed::

    import pyarrow_cuda_compat.pygpu as gpuarray

It works in the primary context of the thread's current device, as the CUDA runtime does; so a C
function that launches kernels by the runtime shares its memory, streams and events.  Calls of the
device do not raise exceptions when they fail, but return a `cudaError_t`, or a value and a
`cudaError_t`.

Examples
--------
>>> k = np.array([1, 2, 3, 4, 5, 6])
>>> k_gpu = gpuarray.to_gpu(k)
>>> k_gpu.last_status
<cudaError: code=0>
>>> k_gpu.get()
array([1, 2, 3, 4, 5, 6])
"""

from .. import _native  # noqa: F401  # isort: skip  (waits for another thread's import)
from . import backend as backend
from . import gpuarray as gpuarray
from .backend import *  # noqa: F403
from .gpuarray import *  # noqa: F403

# As in `backend`, out of sight of type checkers.
globals()["__all__"] = sorted({"backend", "gpuarray", *vars(backend)["__all__"], *gpuarray.__all__})
