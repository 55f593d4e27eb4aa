# What only the CPU can do is refused for arrays on a device, not tried.
import pyarrow as pa
from pyarrow import cuda

ctx = cuda.Context()
array = pa.array([1, None, 3]).copy_to(ctx.memory_manager)
array.to_pylist()
array.to_numpy()
array[0]
array.sum()
array.null_count
array.equals(array)
array.cast(pa.float64())
array.validate(full=True)
array.validate()
buf = array.buffers()[1]
buf.to_pybytes()
buf[0]
batch = pa.record_batch({"x": [1]}).copy_to(ctx.memory_manager)
batch.to_pydict()
batch.column(0).to_pylist()
