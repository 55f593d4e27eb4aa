# Record batches, tables and arrays on the device are pickled as those on the host are.
# shows: additions, Pickling
#   pyarrow.RecordBatch: record batches, tables and arrays on a device are pickled
import pickle

import pyarrow as pa
from pyarrow import cuda

ctx = cuda.Context(0)
batch = pa.record_batch({"x": [1, None, 3], "y": ["a", "bb", None]})
there = batch.copy_to(ctx.memory_manager)
again = pickle.loads(pickle.dumps(there))
again.is_cpu, again.column(0).buffers()[1].device == ctx.device
again.copy_to(pa.default_cpu_memory_manager()).equals(batch)
table = pa.Table.from_batches([there, there])
again = pickle.loads(pickle.dumps(table))
again.is_cpu, again.num_rows
again.column("y").chunk(1).copy_to(pa.default_cpu_memory_manager()).to_pylist()
array = pickle.loads(pickle.dumps(there.column(1).slice(1)))
array.is_cpu, array.copy_to(pa.default_cpu_memory_manager()).to_pylist()
# With protocol 5 each buffer is copied to the host once, and travels out of band.
frames = []
pickled = pickle.dumps(there, protocol=5, buffer_callback=frames.append)
len(frames), sum(len(frame.raw()) for frame in frames)
pickle.loads(pickled, buffers=frames).copy_to(pa.default_cpu_memory_manager()).equals(batch)
