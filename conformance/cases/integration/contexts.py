# A context stands for one device, which it names by number.
# shows: integration, CUDA Contexts
#   Context: a context represents access to one device
#   Context: device 0, by position
#   Context(device_number): the device's number
from pyarrow import cuda

ctx = cuda.Context(0)
type(ctx)
ctx.device_number
cuda.Context(device_number=0).device_number
cuda.Context().device_number
cuda.Context.get_num_devices() >= 1

# Two contexts of a device share it.
cuda.Context(0).handle == ctx.handle
buf = ctx.new_buffer(1000)
cuda.Context(0).bytes_allocated

# It reaches the memory of its device.
ctx.device
ctx.memory_manager
ctx.device == buf.device
ctx.synchronize()


# Devices that are not there.
def refusal(number):
    try:
        return cuda.Context(number).device_number
    except ValueError as error:
        return str(error).replace(str(cuda.Context.get_num_devices()), "<devices>")


refusal(0)
refusal(cuda.Context.get_num_devices())
refusal(-1)
