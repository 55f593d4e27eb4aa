"""Numba's arrays in our memory, where TEST_NUMBA names Numba's package."""

import gc
import importlib
import os
import warnings

import numpy as np
from pyarrow import cuda

from . import scenario

PACKAGE = os.environ.get("TEST_NUMBA")


def start():
    """Numba asks for its memory manager once; until then it does not call the driver."""
    os.environ["NUMBA_CUDA_MEMORY_MANAGER"] = "pyarrow_cuda_compat.numba"
    warnings.simplefilter("ignore")
    package().current_context()


def package():
    return importlib.import_module(PACKAGE)


def arrays():
    numba = package()
    array = numba.to_device(np.arange(1000, dtype=np.int32))
    part = cuda.CudaBuffer.from_numba(array[10:20].gpu_data)
    assert np.frombuffer(part.to_pybytes(), np.int32).tolist() == [*range(10, 20)]
    del array
    gc.collect()
    other = cuda.Context().new_buffer(8).to_numba()
    assert other.size == 8
    with numba.defer_cleanup():
        numba.device_array(10)
    assert cuda.Context.from_numba().handle == part.context.handle


if PACKAGE:
    # Numba calls the driver, too, and says what it makes of a failure.
    scenario(
        prepare=start,
        others=r"Call to cu\w+ results in|in function 'cu\w+': |not a valid CUresult",
        changes_context=True,
    )(arrays)
