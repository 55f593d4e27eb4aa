# A context's device, as Arrow describes devices.
# shows: pyarrow_cuda
#   Context.device: the context's device, with its number, name, type name and kind
# shows: pyarrow_devices, Devices
#   pyarrow.Device.type_name: arrow::cuda::CudaDevice
#   pyarrow.Device.device_id: the number of the device
#   pyarrow.Device.device_type: CUDA
#   pyarrow.Device.is_cpu: False
#   pyarrow.Device.__eq__: objects of one device are equal
import pyarrow as pa
from pyarrow import cuda

ctx = cuda.Context()
ctx.device
type(ctx.device)
ctx.device.type_name
(ctx.device.device_id, ctx.device.is_cpu)
ctx.device.device_type == pa.DeviceAllocationType.CUDA
ctx.device == cuda.Context(0).device
ctx.device == ctx.new_buffer(10).device
ctx.device == pa.default_cpu_memory_manager().device
