# Nulls are kept or refused, and never dropped silently.
# shows: additions, Device arrays and Arrow
#   DeviceArray.arrow_type: what Arrow calls the elements
#   DeviceArray.validity: the validity bitmap, for slices too
#   DeviceArray.null_count: how many elements are null
#   DeviceArray.values: the elements without the bitmap
#   DeviceArray.bit_offset: where in the first byte a bitmap begins
#   DeviceArray.bit_length: how many bits a bitmap has
#   DeviceArray.copy_to_host: what would show values in place of nulls is refused, with the ways to
#     keep them
import pickle

import pyarrow as pa

from pyarrow_cuda_compat import DeviceArray

host = pa.default_cpu_memory_manager()
array = DeviceArray.from_arrow(pa.array([7, None, 9, 10], pa.int8()))
(array.arrow_type, array.null_count)
array.to_arrow().copy_to(host).to_pylist()
array[1:3].to_arrow().copy_to(host).to_pylist()
array.validity.copy_to_host()
(array.validity.bit_offset, array.validity.bit_length, array.validity.arrow_type)
array[1:][1:].validity.bit_offset
array[2:].copy_to_host()
array[0].item()
array.copy().to_arrow().copy_to(host).to_pylist()
array.values.copy_to_host()[[0, 2, 3]]
array.values.validity
# Operations that would show a value in place of a null.
array.copy_to_host()
array[1]
array[::-1]
array.__dlpack__()
array.__cuda_array_interface__
array.copy_to_device(array)
DeviceArray.empty(4, "i1").copy_to_device(array)
other = DeviceArray.empty(4, "i1")
array.copy_to_device(other)
other[:] = array
array.view("u1")
array.export_for_ipc()
DeviceArray.from_arrow(pa.array([[1, None]], pa.list_(pa.int8(), 2)))
for values in ([None, 5, 6] * 7, [True, False, None] * 7, [True, False] * 9):
    part = DeviceArray.from_arrow(pa.array(values)[5:])
    for each in (part.copy(), pickle.loads(pickle.dumps(part))):
        print(each.null_count, each.to_arrow().copy_to(host) == pa.array(values[5:]))
DeviceArray.from_arrow(pa.array([True, None]))[0]
DeviceArray.from_arrow(pa.array([pa.MonthDayNano([1, 2, 3]), None]))["days"]
