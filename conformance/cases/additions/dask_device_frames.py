# Serializers for UCX leave device memory where it is, in frames of its own.
# needs: distributed
# shows: additions, Dask
#   distributed.protocol.serialize(serializers): device memory in frames that stay on
#     the device, as UCX takes them
import pyarrow as pa
from distributed.protocol import deserialize, serialize
from pyarrow import cuda

ctx = cuda.Context()
host = pa.default_cpu_memory_manager()
batch = pa.record_batch({"x": [1, None, 3], "s": ["one", "two", None]})
there = batch.copy_to(ctx.memory_manager)
families = ("cuda", "dask", "pickle")
header, frames = serialize(there, serializers=families)
header["serializer"]
[hasattr(frame, "__cuda_array_interface__") for frame in frames]
back = deserialize(header, frames)
back.copy_to(host).equals(batch)
# The receiver views the memory without a copy.
buffer = ctx.buffer_from_data(b"bytes")
header, frames = serialize(buffer, serializers=families)
deserialize(header, frames).address == buffer.address
# Data on the host is left to Dask's own serializers.
serialize(batch, serializers=families)[0]["serializer"]
