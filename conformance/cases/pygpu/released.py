# PyGPU's GPUArray allocates its device memory, and releases it.
# shows: pygpu, High-level interface
#   PyGPU.GPUArray: device memory is allocated and released automatically
#   PyGPU.GPUArray.ptr: the device address as an integer that ctypes accepts
import ctypes
import gc
import re

import numpy as np
from pyarrow import cuda

import pyarrow_cuda_compat.pygpu as gpuarray

ctx = cuda.Context(0)
ctx.bytes_allocated
array = gpuarray.GPUArray((1000,), dtype="float32")
array.ptr > 0, array.last_status, ctx.bytes_allocated
sent = gpuarray.to_gpu(np.zeros(10))
ctx.bytes_allocated
# A copy made by an index has memory of its own.
part = sent[2:4]
ctx.bytes_allocated
# A pointer keeps the memory that it points to, and so does a view of another library.
pointer, view = sent.device_data, cuda.Context(0).buffer_from_object(part)
del array, sent, part
_ = gc.collect()
ctx.bytes_allocated
del pointer, view
ctx.bytes_allocated
# Too much is a status, and nothing stays allocated.
endless = gpuarray.GPUArray(np.broadcast_to(np.float64(1), (2**40,)))
endless.last_status
endless.__cuda_array_interface__
np.asarray(endless)
(endless.ptr, ctx.bytes_allocated)

# PyGPU's `ptr` is the device address as an integer, which ctypes passes to C functions.
array = gpuarray.to_gpu(np.array([1, 2, 3], dtype=np.uint32))
(type(array.ptr), array.ptr == int(array.device_data))
# A C function of the driver reads what is there, and one writes.
path = re.search(r"/\S*libcuda(_sim)?\.so\S*", open("/proc/self/maps").read())[0]
driver, seen = ctypes.CDLL(path), (ctypes.c_uint32 * 3)()
read, fill = driver.cuMemcpyDtoH_v2, driver.cuMemsetD32_v2
read.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t]
fill.argtypes = [ctypes.c_void_p, ctypes.c_uint, ctypes.c_size_t]
read(seen, array.ptr, array.nbytes), list(seen), fill(array.ptr + 4, 7, 2), array.get()
# Page-locked memory has one address for the device and the host: any C function sees its data.
memory = gpuarray.PagelockedAllocator((4,), np.int32)
locked = gpuarray.GPUArray(allocator=gpuarray.Allocator(memory))
locked.set(np.array([40, 10, 30, 20], dtype=np.int32))
compare = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int))
sort = ctypes.CDLL(None).qsort
sort.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t, compare]
_ = sort(locked.ptr, locked.size, 4, compare(lambda a, b: a[0] - b[0]))
locked.get()
# Other libraries take the array as it is.
interface = array.__cuda_array_interface__
(interface["data"] == (array.ptr, False), interface["shape"], interface["typestr"])
# Nothing lies at the address of an array without elements.
gpuarray.GPUArray((0, 3)).ptr
