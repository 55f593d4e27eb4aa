"""The sum of an array by a C function, as programs for PyCUDA's arrays are written.

Nothing here is particular to this package but the line that imports it, which the tests replace by
the original's name.
"""

import ctypes

import numpy as np

import pyarrow_cuda_compat.pygpu as gpuarray


def load(path):
    """The function `sums` of the library that reduction.cu was compiled to."""
    sums = ctypes.CDLL(str(path)).sums
    sums.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_long, ctypes.c_long]
    return sums


def total(sums, numbers, blocks=64):
    """The sum of the numbers: first of each block's, then of the blocks' sums."""
    values = gpuarray.to_gpu(numbers)
    parts = gpuarray.GPUArray((blocks,), dtype=np.float64)
    result = gpuarray.GPUArray((1,), dtype=np.float64)
    assert (values.shape, values.dtype, values.nbytes) == (
        numbers.shape,
        numbers.dtype,
        8 * numbers.size,
    )
    assert sums(values.ptr, parts.ptr, values.size, blocks) == 0
    assert sums(parts.ptr, result.ptr, blocks, 1) == 0
    return result.get()[0]
