"""The fronts of the array class: PyGPU's names, and `SmartArray`."""

import numpy as np
from pyarrow import cuda

import pyarrow_cuda_compat.pygpu as gpuarray
from pyarrow_cuda_compat import SmartArray, memory

from . import scenario


def passed(*statuses):
    """PyGPU's calls raise nothing: their statuses tell."""
    for status in statuses:
        if status != 0:
            raise RuntimeError(f"status {int(status)}")


STATUS = r"^status {code}$"


@scenario(others=STATUS, changes_context=True)
def pygpu_arrays():
    host = np.arange(6.0).reshape(2, 3)
    array = gpuarray.to_gpu(host)
    passed(array.last_status)
    host[:] = 0
    result = array.get()
    passed(array.last_status)
    assert result.tolist() == [[0, 1, 2], [3, 4, 5]]
    other = gpuarray.GPUArray((2, 2), "int32", order="F")
    passed(other.last_status, other.set(np.ones((2, 2), np.int32)))
    result = other.get()
    passed(other.last_status)
    assert result.all()


def with_memory_of_others():
    """The first such buffer's device is named by pyarrow, whose errors have no number."""
    context = cuda.Context()
    own = context.new_buffer(1)
    context.foreign_buffer(own.address, 1, base=own)


@scenario(with_memory_of_others, others=STATUS, changes_context=True)
def pygpu_devices_and_memory():
    passed(gpuarray.cudaSetDevice(0), gpuarray.cudaGetDevice()[1])
    passed(gpuarray.cudaGetDeviceCount()[1], gpuarray.cudaDeviceProp(0).last_status())
    for kind in (gpuarray.DeviceAllocator_int16, gpuarray.PagelockedAllocator_int16):
        passed(kind().allocate(3))
    array = gpuarray.to_gpu(np.arange(6.0).reshape(2, 3))
    passed(array.last_status, array.set_val(5, 1), array.to_host())
    for part in (array[1], array[:, 1]):
        passed(part.last_status)
    result = array.get()
    passed(array.last_status)
    assert result.tolist() == [[0, 1, 2], [3, 4, 1]]
    host = array._host.ctypes.data
    passed(gpuarray.DeviceArray_float64(host, array.ptr, [2, 3]).last_status())


# Without a current context, the stream belongs to another device: its handle is invalid.
@scenario(others=STATUS + "|^status 400$", changes_context=True)
def pygpu_streams():
    gpuarray.cudaGetLastError()  # of an earlier run
    begin, end, stream = gpuarray.cudaEvent_t(), gpuarray.cudaEvent_t(), gpuarray.cudaStream_t()
    passed(gpuarray.cudaGetLastError())
    passed(gpuarray.cudaEventRecord(begin, stream), gpuarray.cudaEventRecord(end, stream))
    passed(gpuarray.cudaEventSynchronize(end))
    elapsed, status = gpuarray.cudaEventElapsedTime(begin, end)
    passed(status, gpuarray.cudaDeviceSynchronize())
    assert elapsed >= 0


@scenario()
def smart_arrays():
    array = SmartArray(np.arange(4.0))
    array.get("gpu").fill(2.5)
    array.mark_changed("gpu")
    assert (array[1:] * 2).get().tolist() == [5, 5, 5]
    array[0] = 1
    assert array.get("gpu").copy_to_host().tolist() == [1, 2.5, 2.5, 2.5]
    there = SmartArray(memory.to_device(np.arange(3)), where="gpu")
    assert there.get().tolist() == [0, 1, 2]
    assert SmartArray(shape=3, dtype="i4", where="gpu").get("gpu").size == 3
