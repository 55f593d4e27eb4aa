# Arrays that lie on a device can be printed.
# shows: pyarrow_devices, Arrays
#   pyarrow.Array.__repr__: arrays, batches and tables on a device are printed
import pyarrow as pa
from pyarrow import cuda

ctx = cuda.Context()
there = pa.array([1, None, 3]).copy_to(ctx.memory_manager)
print(there)
print(pa.array(["one", None]).copy_to(ctx.memory_manager))
batch = pa.record_batch({"x": [1, 2]}).copy_to(ctx.memory_manager)
print(batch)
print(pa.Table.from_batches([batch]))
print(pa.chunked_array([there, there]))
