# Each of PyGPU's calls of the device returns an error code, an object around its number.
# shows: pygpu, Pointers and error codes
#   PyGPU.cudaError_t: each device call returns an error code, an object around its number
#   PyGPU.cudaError_t: it shows its number: `<cudaError: code=0>` for success
#   PyGPU.cudaSetDevice: a call without a result returns only its error code
#   PyGPU.cudaGetDevice: a call with a result returns a pair: result and error code
import pyarrow_cuda_compat.pygpu as gpuarray

err = gpuarray.cudaSetDevice(0)
err
type(err).__name__
(err.as_int(), int(err))
# Equal by their numbers.
err == gpuarray.cudaError_t(0)
err == gpuarray.cudaError_t(1)
gpuarray.cudaError_t(2)
# With a result it is a pair.
gpuarray.cudaGetDevice()
_, err = gpuarray.cudaGetDeviceCount()
err
# A failure is a number, not an exception.
failed = gpuarray.cudaSetDevice(1000)
failed
(gpuarray.cudaGetErrorName(failed), gpuarray.cudaGetErrorString(failed))
[gpuarray.cudaGetErrorString(gpuarray.cudaError_t(code)) for code in (0, 2, 9, 700, 12345)]
# The thread's last one stays until somebody asks for it, whatever succeeds meanwhile.
gpuarray.cudaDeviceSynchronize()
gpuarray.cudaPeekAtLastError()
gpuarray.cudaGetLastError()
gpuarray.cudaGetLastError()
# So is memory that is not there.
gpuarray.DeviceAllocator_int64().allocate(2**50)
gpuarray.cudaGetErrorName(gpuarray.cudaGetLastError())
# Errors that are not the device's raise exceptions.
gpuarray.cudaSetDevice("0")
gpuarray.cudaError_t("0")
