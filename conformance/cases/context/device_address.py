# The address at which the device reaches memory: device memory and page-locked host memory.
# shows: pyarrow_cuda
#   Context.get_device_address: the address at which the device reaches the memory, as an int
#   Context.get_device_address(address): an address of device memory or of pinned host memory, also
#     within an allocation
#   Context.get_device_address: memory that the driver does not know is an OSError with the driver's
#     words
import ctypes

from pyarrow import cuda

ctx = cuda.Context()
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
