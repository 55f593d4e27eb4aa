# Nulls are kept or refused, and never dropped silently.
import pyarrow as pa

from pyarrow_cuda_compat import DeviceArray

host = pa.default_cpu_memory_manager()
array = DeviceArray.from_arrow(pa.array([7, None, 9, 10], pa.int8()))
(array.arrow_type, array.null_count)
array.to_arrow().copy_to(host).to_pylist()
array[1:3].to_arrow().copy_to(host).to_pylist()
array.validity.copy_to_host()
(array.validity.bit_offset, array.validity.bit_length, array.validity.arrow_type)
array[2:].validity.bit_offset
array[2:].copy_to_host()
array[0].item()
array.copy().to_arrow().copy_to(host).to_pylist()
array.values.copy_to_host()[[0, 2, 3]]
array.values.validity
# What would show a value in place of a null.
array.copy_to_host()
array[1]
array[::-1]
array.__dlpack__()
array.__cuda_array_interface__
array.copy_to_device(array)
DeviceArray.empty(4, "i1").copy_to_device(array)
DeviceArray.from_arrow(pa.array([[1, None]], pa.list_(pa.int8(), 2)))
