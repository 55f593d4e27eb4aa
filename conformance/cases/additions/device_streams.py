# Streams of batches on a device pass from library to library.
# shows: additions, Arrow C Device interface
#   pyarrow.Table.__arrow_c_device_stream__: tables, readers, batches and chunked arrays are
#     exported as streams
#   pyarrow.RecordBatchReader.from_stream: streams of other libraries are read, without a copy
#   pyarrow.ChunkedArray._import_from_c_device_capsule: a stream becomes a chunked array; it is
#     taken over once
#   pyarrow.Table.__arrow_c_device_stream__: a stream has one device
import pyarrow as pa
from pyarrow import cuda

ctx = cuda.Context()
host = pa.default_cpu_memory_manager()
table = pa.table({"x": pa.chunked_array([[1, None], [3]]), "s": ["one", "two", None]})
there = table.copy_to(ctx.device)


class Theirs:
    def __init__(self, inner):
        self.__arrow_c_device_stream__ = inner.__arrow_c_device_stream__


reader = pa.RecordBatchReader.from_stream(Theirs(there))
reader.schema.equals(table.schema)
batch = reader.read_next_batch()
batch.is_cpu
first = there.column("x").chunk(0).buffers()[1]
batch.column("x").buffers()[1].address == first.address
reader.read_all().copy_to(host).to_pydict()
# A reader, a batch and data on the host are exported as well.
pa.RecordBatchReader.from_stream(there.to_reader()).read_all().copy_to(host).equals(table)
pa.RecordBatchReader.from_stream(batch).read_all().num_rows
pa.RecordBatchReader.from_stream(Theirs(table)).read_all().equals(table)
capsule = there.column("s").__arrow_c_device_stream__()
words = pa.ChunkedArray._import_from_c_device_capsule(capsule)
(words.is_cpu, words.copy_to(host).to_pylist())
# A stream is taken over once.
try:
    pa.ChunkedArray._import_from_c_device_capsule(capsule)
except pa.ArrowInvalid as error:
    print(error)

# Its data has one device.
mixed = pa.table({"x": pa.chunked_array([[1], [2]])})
mixed = pa.table({"x": pa.chunked_array([mixed["x"].chunk(0), there["x"].chunk(1)])})
reader = pa.RecordBatchReader.from_stream(Theirs(mixed))
reader.read_next_batch().is_cpu
try:
    reader.read_next_batch()
except pa.ArrowInvalid as error:
    print(error)

# Only data on the CPU is cast to the schema that a consumer asks for.
asked = pa.schema([("x", pa.int8()), ("s", pa.string())])
pa.RecordBatchReader.from_stream(Theirs(table), schema=asked).schema.field("x").type
try:
    pa.RecordBatchReader.from_stream(Theirs(there), schema=asked)
except NotImplementedError as error:
    print(error)
there.__arrow_c_device_stream__(other=1)
