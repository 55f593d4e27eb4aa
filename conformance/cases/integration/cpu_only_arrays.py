# Methods and functions that work on host memory refuse arrays on the device.
# shows: integration, CUDA Buffers
#   pyarrow.Array: methods of arrays that need the CPU are refused for arrays on the device
#   pyarrow.compute: functions that do not check where an array lies, and crash, as the page warns,
#     raise here; they work on a copy on the host
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import cuda

ctx = cuda.Context(0)
values = ctx.buffer_from_data(b"\x01\x02\x03\x04")
array = pa.Array.from_buffers(pa.uint8(), 4, [None, values])
(array.is_cpu, array.device_type)
array.to_pylist()
array.to_numpy()
array[0]
array.sum()
array.equals(array)
array.cast(pa.int64())
array.validate(full=True)
there = pa.array(["a", None, "bc"]).copy_to(ctx.memory_manager)
there.null_count
there.is_null()
batch = pa.record_batch({"x": [1, 2]}).copy_to(ctx.memory_manager)
batch.to_pydict()

# Functions do not ask where arrays are, as the page warns; here they refuse as well.
pc.sum(array)
pa.concat_arrays([array, array])

# The copy on the host does all of it.
array.copy_to(pa.default_cpu_memory_manager()).to_pylist()
pc.sum(array.copy_to(pa.default_cpu_memory_manager()))
there.copy_to(pa.default_cpu_memory_manager()).null_count
batch.copy_to(pa.default_cpu_memory_manager()).to_pydict()
