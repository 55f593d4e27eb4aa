# Managed memory, and host memory that was page-locked later, are reached by the device as well.
# shows: pyarrow_cuda
#   Context.get_device_address: an address of managed memory
#   Context.get_device_address: an address of host memory that was pinned after its allocation
#   Context.foreign_buffer: managed memory, and host memory that was pinned after its allocation
import ctypes
import re

from pyarrow import cuda

ctx = cuda.Context()
driver = ctypes.CDLL(re.search(r"/\S*libcuda(_sim)?\.so\S*", open("/proc/self/maps").read())[0])
driver.cuCtxSetCurrent(ctypes.c_void_p(ctx.handle))

# Managed memory, for all streams: the flag 1.
managed = ctypes.c_uint64()
driver.cuMemAllocManaged(ctypes.byref(managed), ctypes.c_size_t(64), 1)
_ = ctypes.memmove(managed.value, b"0123456789", 10)
reached = ctx.get_device_address(managed.value)
ctx.get_device_address(managed.value + 5) - reached
view = ctx.foreign_buffer(managed.value, 10)
(type(view), view.size, view.to_pybytes())
view.copy_from_host(b"MANAGED", position=2)
ctypes.string_at(managed.value, 10)
del view
driver.cuMemFree_v2(managed)
ctx.get_device_address(managed.value)

# Memory of the host, made known to the driver: two pages, with 2, for devices to reach.
pages = ctypes.create_string_buffer(3 * 4096)
start = -(-ctypes.addressof(pages) // 4096) * 4096
ctx.get_device_address(start)
driver.cuMemHostRegister_v2(ctypes.c_void_p(start), ctypes.c_size_t(8192), 2)
_ = ctypes.memmove(start + 4090, b"page-locked", 11)
reached = ctx.get_device_address(start)
ctx.get_device_address(start + 4090) - reached
view = ctx.foreign_buffer(start + 4090, 11, base=pages)
view.to_pybytes()
view.copy_from_host(b"PAGE")
ctypes.string_at(start + 4090, 11)
target = ctx.new_buffer(11)
target.copy_from_device(view)
target.to_pybytes()
del view
driver.cuMemHostUnregister(ctypes.c_void_p(start))
ctx.get_device_address(start)
