# A program for PyCUDA's gpuarray, in the way of cuFINUFFT's, with the import replaced.
# shows: pygpu, PyCUDA compatibility
#   PyGPU: stands in for PyCUDA's `gpuarray` under that name
#   PyGPU.cudaSetDevice: takes the place of PyCUDA's device control
#   PyGPU.cudaGetDevice: returns number and error code to unpack
import ctypes
import re

import numpy as np

import pyarrow_cuda_compat.pygpu as gpuarray

# This replaces PyCUDA's device control.
gpuarray.cudaSetDevice(0)
idx, err = gpuarray.cudaGetDevice()
(idx, err)
path = re.search(r"/\S*libcuda(_sim)?\.so\S*", open("/proc/self/maps").read())[0]
driver = ctypes.CDLL(path)
copy = driver.cuMemcpyDtoD_v2
copy.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t]


class Plan:
    """Stands for a library of kernels: it takes addresses of arrays, and works on the device."""

    def __init__(self, shape, dtype):
        self.shape, self.dtype = shape, dtype

    def set_pts(self, kx, ky, kz):
        self.points = [kx, ky, kz]

    def execute(self, c_gpu, fk_gpu):
        assert fk_gpu.shape == self.shape
        assert fk_gpu.dtype == c_gpu.dtype == self.dtype
        return copy(fk_gpu.ptr, c_gpu.ptr, fk_gpu.nbytes)


complex_dtype = np.complex128
k = np.linspace(-np.pi, np.pi, 24).reshape(3, 8)
c = np.exp(1j * np.arange(8))
k_gpu = gpuarray.to_gpu(k)
c_gpu = gpuarray.to_gpu(c)
fk_gpu = gpuarray.GPUArray((2, 2, 2), dtype=complex_dtype)
plan = Plan((2, 2, 2), complex_dtype)
plan.set_pts(k_gpu[0], k_gpu[1], k_gpu[2])
plan.execute(c_gpu, fk_gpu)
fk = fk_gpu.get()
(fk.shape, bool((fk.ravel() == c).all()))
# Each point's address is that of a row of its own.
[bool((row.get() == k[place]).all()) for place, row in enumerate(plan.points)]
len({row.ptr for row in plan.points} | {k_gpu.ptr}), gpuarray.cudaDeviceSynchronize()
