# A context of a device: the first device by default, its primary context always the same one.
# shows: pyarrow_cuda
#   Context: a context of a device: its primary context, the same for every object
#   Context(device_number): the number of the device; 0 by default
#   Context.device_number: the number of the context's device
#   Context.handle: the driver's handle of the context, as an int; cannot be set
#   Context.get_num_devices: the number of devices, as an int, without a context
#   Context.device_number: each device's context returns its own number
#   Context: an unknown device number raises a ValueError that names the number of devices
#   Context.device: the context's device, with its number, name, type name and kind
#   Context.memory_manager: the memory manager of the context's device, where Arrow allocates
#   Context: can be referenced weakly
#   IpcMemHandle: can be referenced weakly
# shows: pyarrow_devices, Devices
#   pyarrow.Device.type_name: arrow::cuda::CudaDevice
#   pyarrow.Device.device_id: the number of the device
#   pyarrow.Device.device_type: CUDA
#   pyarrow.Device.is_cpu: False
#   pyarrow.Device.__eq__: objects of one device are equal
#   pyarrow.MemoryManager.device: the device that it allocates on
#   pyarrow.MemoryManager.is_cpu: False
import ctypes
import re
import weakref

import pyarrow as pa
from pyarrow import cuda

ctx = cuda.Context()
type(ctx), ctx.device_number, ctx.handle > 0, cuda.Context(0).device_number
cuda.Context(0).handle == ctx.handle, cuda.Context(device_number=0).handle == ctx.handle
cuda.Context(0, 0).handle == ctx.handle
# Each call makes an object; what one allocates, every other one can use.
other = cuda.Context(0)
other is ctx
buf = ctx.buffer_from_data(b"shared")
other.foreign_buffer(buf.address, buf.size, base=buf).to_pybytes()

# The handle is the driver's: that of the device's primary context.
type(ctx.handle)
driver = ctypes.CDLL(re.search(r"/\S*libcuda(_sim)?\.so\S*", open("/proc/self/maps").read())[0])
primary = ctypes.c_void_p()
driver.cuDevicePrimaryCtxRetain(ctypes.byref(primary), 0)
primary.value == ctx.handle
driver.cuDevicePrimaryCtxRelease_v2(0)
ctx.handle = 1

# The number of devices is the driver's, and as many contexts can be had.
count = cuda.Context.get_num_devices()
type(count), count >= 1
counted = ctypes.c_int()
driver.cuDeviceGetCount(ctypes.byref(counted))
counted.value == count
contexts = [cuda.Context(number) for number in range(count)]
[ctx.device_number for ctx in contexts] == list(range(count))
len({ctx.handle for ctx in contexts}) == count, contexts[0].get_num_devices() == count

# Device numbers that no device has are refused.


def said(number):
    try:
        cuda.Context(number)
    except ValueError as error:
        return type(error), str(error).replace(f"less than {count}", "less than <count>")


said(count)
said(-1)
# Only numbers name devices.
for wrong in ("0", None, 1.5):
    try:
        cuda.Context(wrong)
    except TypeError:
        print("TypeError")
# The contexts that there are go on working.
cuda.Context(count - 1).device_number == count - 1
cuda.Context().buffer_from_data(b"fine").to_pybytes()

# A context's device, as Arrow describes devices.
ctx = cuda.Context()
ctx.device, type(ctx.device)
ctx.device.type_name, ctx.device.device_id, ctx.device.is_cpu
ctx.device.device_type == pa.DeviceAllocationType.CUDA, ctx.device == cuda.Context(0).device
ctx.device == ctx.new_buffer(10).device, ctx.device == pa.default_cpu_memory_manager().device

# A context's memory manager: where Arrow itself allocates on the device.
manager = ctx.memory_manager
manager
type(manager), manager.is_cpu, manager.device == ctx.device
ctx.new_buffer(10).memory_manager.device == ctx.device
# What Arrow copies there lies on the device, and is counted.
before = ctx.bytes_allocated
there = pa.array([1, 2, 3]).copy_to(manager)
there.device_type == pa.DeviceAllocationType.CUDA, ctx.bytes_allocated - before
there.copy_to(pa.default_cpu_memory_manager()).to_pylist()
del there
ctx.bytes_allocated - before

# Contexts and handles can be referenced weakly, and classes are of the documented module.
weakref.ref(ctx)() is ctx
handle = ctx.buffer_from_data(b"x").export_for_ipc()
weakref.ref(handle)() is handle
[kind.__module__ for kind in (cuda.Context, cuda.CudaBuffer, cuda.HostBuffer, cuda.IpcMemHandle)]
[kind.__name__ for kind in (cuda.BufferReader, cuda.BufferWriter)]
