# A batch that was read from a device says that it lies there.
import pyarrow as pa
from pyarrow import cuda

ctx = cuda.Context()
batch = pa.record_batch({"x": [1, None, 3]})
there = cuda.read_record_batch(cuda.serialize_record_batch(batch, ctx), batch.schema)
(there.is_cpu, there.device_type == pa.DeviceAllocationType.CUDA)
there.to_pylist()
there.validate(full=True)
