"""A Fourier transform by a C function that takes addresses, as programs for PyGPU are written.

Nothing here is particular to this package but the line that imports it, which the tests replace by
the original's name.
"""

import ctypes

import pyarrow_cuda_compat.pygpu as gpuarray


def load(path):
    """The function `stage` of the library that transform.cu was compiled to."""
    stage = ctypes.CDLL(str(path)).stage
    stage.argtypes = [
        ctypes.c_void_p,
        ctypes.c_void_p,
        ctypes.c_long,
        ctypes.c_long,
        ctypes.c_void_p,
    ]
    return stage


def check(status):
    assert status.as_int() == 0, gpuarray.cudaGetErrorString(status)


def page_locked(shape, dtype):
    """An array whose side on the device is memory that a function for the host can reach, too."""
    memory = gpuarray.PagelockedAllocator(shape, dtype)
    return gpuarray.GPUArray(allocator=gpuarray.Allocator(memory))


def transform(stage, signal, array=gpuarray.GPUArray):
    """The transform of a signal whose length is a power of 2, and the milliseconds that it took."""
    check(gpuarray.cudaSetDevice(0))
    device, status = gpuarray.cudaGetDevice()
    check(status)
    assert device == 0
    source, target = (array(shape=signal.shape, dtype=signal.dtype.name) for _ in range(2))
    source.set(signal)
    check(source.last_status)
    start, end = gpuarray.cudaEvent_t(), gpuarray.cudaEvent_t()
    check(gpuarray.cudaEventRecord(start))
    stride = 1
    while stride < signal.size:
        check(gpuarray.cudaError_t(stage(source.ptr, target.ptr, signal.size, stride, None)))
        source, target = target, source
        stride *= 2
    check(gpuarray.cudaEventRecord(end))
    check(gpuarray.cudaEventSynchronize(end))
    milliseconds, status = gpuarray.cudaEventElapsedTime(start, end)
    check(status)
    result = source.get()
    check(source.last_status)
    return result, milliseconds
