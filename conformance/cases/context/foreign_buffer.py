# Memory of others: the address at which the device reaches it, and views of it.
# shows: pyarrow_cuda
#   Context.foreign_buffer: a CudaBuffer over memory that somebody else owns; the same memory,
#     mutable
#   Context.foreign_buffer(address): where the memory begins: device memory or pinned host memory
#   Context.foreign_buffer(size): the size in bytes; size 0 at address 0 makes a new empty buffer
#   Context.get_device_address: the address at which the device reaches the memory, as an int
#   Context.get_device_address(address): an address of device memory or of pinned host memory, also
#     within an allocation
#   Context.get_device_address: memory that the driver does not know is an OSError with the driver's
#     words
#   Context.get_device_address: an address of managed memory
#   Context.get_device_address: an address of host memory that was pinned after its allocation
#   Context.foreign_buffer: managed memory, and host memory that was pinned after its allocation
import ctypes
import re

import pyarrow as pa
from pyarrow import cuda

# A view of device memory that somebody else owns.
ctx = cuda.Context()
owner = ctx.buffer_from_data(b"0123456789")
view = ctx.foreign_buffer(address=owner.address + 2, size=5, base=owner)
type(view), view.address - owner.address, view.size, view.is_mutable, view.is_cpu
view.to_pybytes()
# It is the same memory.
view.copy_from_host(b"XY", position=1), owner.to_pybytes(), view.context.handle == ctx.handle
ctx.foreign_buffer(owner.address, 10).to_pybytes()
# Page-locked host memory can be viewed as well.
pinned = cuda.new_host_buffer(4)
pa.BufferReader(b"pin!").readinto(pinned)
mapped = ctx.foreign_buffer(pinned.address, pinned.size, base=pinned)
mapped.is_cpu, mapped.to_pybytes(), mapped.copy_from_host(b"PIN"), pinned.to_pybytes()
# No bytes at no address: a new buffer of no bytes.
nothing = ctx.foreign_buffer(0, 0)
nothing.size, nothing.address, ctx.foreign_buffer(None, 0).size

# The address at which the device reaches memory: device memory and page-locked host memory.
buf = ctx.new_buffer(100)
ctx.get_device_address(buf.address) == buf.address
ctx.get_device_address(address=buf.address + 50) == buf.address + 50
pinned = cuda.new_host_buffer(64)
ctx.get_device_address(pinned.address) == pinned.address
ctx.get_device_address(pinned.address + 8) == pinned.address + 8
# Memory that the driver does not know has none.
pageable = ctypes.create_string_buffer(100)
ctx.get_device_address(ctypes.addressof(pageable))
ctx.get_device_address(1)

# Managed memory, and host memory that was page-locked later, are reached by the device as well.
driver = ctypes.CDLL(re.search(r"/\S*libcuda(_sim)?\.so\S*", open("/proc/self/maps").read())[0])
driver.cuCtxSetCurrent(ctypes.c_void_p(ctx.handle))
# Managed memory, for all streams: the flag 1.
managed = ctypes.c_uint64()
driver.cuMemAllocManaged(ctypes.byref(managed), ctypes.c_size_t(64), 1)
_ = ctypes.memmove(managed.value, b"0123456789", 10)
reached = ctx.get_device_address(managed.value)
ctx.get_device_address(managed.value + 5) - reached
view = ctx.foreign_buffer(managed.value, 10)
type(view), view.size, view.to_pybytes(), view.copy_from_host(b"MANAGED", position=2)
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
view.to_pybytes(), view.copy_from_host(b"PAGE"), ctypes.string_at(start + 4090, 11)
target = ctx.new_buffer(11)
target.copy_from_device(view), target.to_pybytes()
del view
driver.cuMemHostUnregister(ctypes.c_void_p(start))
ctx.get_device_address(start)
