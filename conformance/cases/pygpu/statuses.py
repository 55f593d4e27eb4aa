# Each of PyGPU's calls of the device returns an error code, an object around its number.
# shows: pygpu, Pointers and error codes
#   PyGPU.cudaError_t: each device call returns an error code, an object around its number
#   PyGPU.cudaError_t: it shows its number: `<cudaError: code=0>` for success
#   PyGPU.cudaSetDevice: a call without a result returns only its error code
#   PyGPU.cudaGetDevice: a call with a result returns a pair: result and error code
#   PyGPU.pointer_wrapper_int16: a pointer to `int16` as a Python object
#   PyGPU.pointer_wrapper_int32: a pointer to `int32` as a Python object
#   PyGPU.pointer_wrapper_int64: a pointer to `int64` as a Python object
#   PyGPU.pointer_wrapper_uint16: a pointer to `uint16` as a Python object
#   PyGPU.pointer_wrapper_uint32: a pointer to `uint32` as a Python object
#   PyGPU.pointer_wrapper_uint64: a pointer to `uint64` as a Python object
#   PyGPU.pointer_wrapper_float32: a pointer to `float32` as a Python object
#   PyGPU.pointer_wrapper_float64: a pointer to `float64` as a Python object
#   PyGPU.pointer_wrapper_int64: pointers to the host's memory that Python owns are safe, and others
#     are not
#   PyGPU.pointer_wrapper_int64.get: gives access to what a safe pointer points to
#   PyGPU.pointer_wrapper_int64.__int__: the raw pointer as an integer
import ctypes

import numpy as np

import pyarrow_cuda_compat.pygpu as gpuarray

err = gpuarray.cudaSetDevice(0)
err, type(err).__name__, err.as_int(), int(err)
# Equal by their numbers.
err == gpuarray.cudaError_t(0), err == gpuarray.cudaError_t(1), gpuarray.cudaError_t(2)
# With a result it is a pair.
gpuarray.cudaGetDevice()
_, err = gpuarray.cudaGetDeviceCount()
err
# A failure is a number, not an exception.
failed = gpuarray.cudaSetDevice(1000)
failed, gpuarray.cudaGetErrorName(failed), gpuarray.cudaGetErrorString(failed)
[gpuarray.cudaGetErrorString(gpuarray.cudaError_t(code)) for code in (0, 2, 9, 700, 12345)]
# The thread's last one stays until somebody asks for it, whatever succeeds meanwhile.
gpuarray.cudaDeviceSynchronize(), gpuarray.cudaPeekAtLastError(), gpuarray.cudaGetLastError()
gpuarray.cudaGetLastError()
# So is memory that is not there.
gpuarray.DeviceAllocator_int64().allocate(2**50)
gpuarray.cudaGetErrorName(gpuarray.cudaGetLastError())
# Errors that are not the device's raise exceptions.
gpuarray.cudaSetDevice("0")
gpuarray.cudaError_t("0")

# PyGPU's pointers as Python objects: those to the host's memory that Python owns are safe.
KINDS = "int16 int32 int64 uint16 uint32 uint64 float32 float64 complex64 complex128"
for name in KINDS.split():
    pointer = getattr(gpuarray, f"pointer_wrapper_{name}")()
    print(pointer, end=" ")
    pointer.create(3)
    print(pointer.is_safe(), pointer.get().dtype == name, int(pointer) > 0)
A = np.array([1, 2, 3])
da = gpuarray.DeviceArray_int64(A)
da.allocate()
host, device = da.host_data(), da.device_data()
(type(host).__name__, type(device).__name__)
(host.is_safe(), device.is_safe(), gpuarray.pointer_wrapper_int64().is_safe())
# A safe pointer gives access to the memory, which is the array's own.
host.get()
host.get()[0] = 10
A
# Others do not.
device.get()
gpuarray.pointer_wrapper_int64().get()
# As an integer, of either kind.
int(host) == A.ctypes.data
(int(device) == da.device_data().__int__(), int(gpuarray.pointer_wrapper_int64()))
# C functions take pointers as they are.
_ = ctypes.CDLL(None).memset(host, 0, ctypes.c_size_t(8))
A
# A pointer keeps its memory.
del da
host.get().tolist()
