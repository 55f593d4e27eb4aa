# Dictionary-encoded columns come with their dictionaries in a stream or a file.
# shows: pyarrow_cuda
#   read_record_batch(dictionary_memo): columns and dictionaries are looked up in the arguments
#   read_record_batch: a stream or a file contains dictionaries; without them a column of indices is
#     refused
import pyarrow as pa
from pyarrow import cuda

ctx = cuda.Context()
host = pa.default_cpu_memory_manager()
words = pa.array(["x", "y", None, "x"]).dictionary_encode()
batch = pa.record_batch({"d": words, "i": [1, 2, 3, 4]})
sink = pa.BufferOutputStream()
with pa.ipc.new_stream(sink, batch.schema) as stream:
    stream.write_batch(batch)
there = pa.ipc.open_stream(cuda.BufferReader(ctx.buffer_from_data(sink.getvalue()))).read_all()
[part.copy_to(host).equals(batch) for part in there.to_batches()]
sink = pa.BufferOutputStream()
with pa.ipc.new_file(sink, batch.schema) as file:
    file.write_batch(batch)
file = pa.ipc.open_file(cuda.BufferReader(ctx.buffer_from_data(sink.getvalue())))
file.get_batch(0).copy_to(host).equals(batch)
# A message alone holds the indices only: without its dictionary it is not read.
message = cuda.serialize_record_batch(batch, ctx)
message.to_pybytes() == batch.serialize().to_pybytes()
cuda.read_record_batch(message, batch.schema)
cuda.read_record_batch(message, batch.schema, dictionary_memo=None)
# A memo that has seen the schema knows which column has which dictionary; its values it lacks.
memo = pa.lib.DictionaryMemo()
cuda.read_record_batch(message, batch.schema, dictionary_memo=memo)
pa.ipc.read_schema(batch.schema.serialize(), memo) == batch.schema
cuda.read_record_batch(message, batch.schema, dictionary_memo=memo)
