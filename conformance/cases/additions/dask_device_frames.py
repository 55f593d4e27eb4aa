# Serializers for UCX leave device memory where it is, in frames of its own.
# needs: distributed
# shows: additions, Dask
#   distributed.protocol.serialize(serializers): device memory in frames that stay on
#     the device, as UCX takes them
import pyarrow as pa
from dask.base import tokenize
from dask.sizeof import sizeof
from distributed.protocol import deserialize, serialize
from pyarrow import cuda

from pyarrow_cuda_compat import DeviceArray

ctx = cuda.Context(cuda.Context.get_num_devices() - 1)
host = pa.default_cpu_memory_manager()
batch = pa.record_batch({"x": [1, None, 3], "s": ["one", "two", None]})
there = batch.copy_to(ctx.memory_manager)
families = ("cuda", "dask", "pickle")
header, frames = serialize(there, serializers=families)
header["serializer"], [hasattr(frame, "__cuda_array_interface__") for frame in frames]
back = deserialize(header, frames)
back.copy_to(host).equals(batch)
# The receiver views the memory without a copy.
buffer = ctx.buffer_from_data(b"bytes")
header, frames = serialize(buffer, serializers=families)
deserialize(header, frames).address == buffer.address
# Data on the host is left to Dask's own serializers.
serialize(batch, serializers=families)[0]["serializer"]


# Where frames have come to the host, the memory is allocated on the device with the same number.
class ReadOnly:
    __cuda_array_interface__ = buffer.__cuda_array_interface__ | {"data": (buffer.address, True)}


header, frames = serialize(ctx.buffer_from_object(ReadOnly()), serializers=families)
there = deserialize(header, [frames[0], frames[1].to_pybytes()])
there.context.device_number == ctx.device_number, there.is_mutable, there.to_pybytes()
try:
    deserialize(header, [frames[0], frames[1].slice(1)])
except ValueError as error:
    print(str(error).partition(" of ")[0])
# Dask weighs data by its bytes, and tells it from equal data of another device or place.
sizeof(DeviceArray.from_host(range(100))) - sizeof(buffer)
first, column = cuda.Context(0).buffer_from_data(b"bytes"), batch["x"].copy_to(ctx.memory_manager)
(tokenize(first) == tokenize(buffer)) == (ctx.device_number == 0)
tokenize(column.slice(0, 2)) == tokenize(column.slice(1))
# Memory that two columns share is sent once.
twice = pa.record_batch([column, column], ["x", "y"])
[len(serialize(each, serializers=families)[1]) for each in (twice, twice.select(["x"]))]
