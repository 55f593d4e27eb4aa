# Dictionaries, and the other options of reading.
# shows: pyarrow_cuda
#   read_record_batch(dictionary_memo): columns and dictionaries are looked up in the arguments
#   read_record_batch: a stream or a file contains dictionaries; without them a column of indices is
#     refused
#   read_record_batch(dictionary_memo): known dictionaries, by keyword only; none by default
#   read_record_batch(pool): a memory pool for the metadata, by keyword only; the default one by
#     default
import pyarrow as pa
from pyarrow import cuda

# Dictionary-encoded columns come with their dictionaries in a stream or a file.
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

# The options of reading: where metadata is allocated, and known dictionaries.
batch = pa.record_batch({"x": [1, None, 3]})
message = cuda.serialize_record_batch(batch, ctx)
pool = pa.default_memory_pool()
memo = pa.lib.DictionaryMemo()


def read(**options):
    there = cuda.read_record_batch(message, batch.schema, **options)
    return there.copy_to(host).equals(batch)


read(dictionary_memo=None, pool=None), read(dictionary_memo=memo), read(pool=pool)
both = cuda.read_record_batch(
    message, batch.schema, dictionary_memo=memo, pool=pa.proxy_memory_pool(pool)
)
both.copy_to(host).equals(batch)
# The pool is checked, and not needed.
counting = pa.proxy_memory_pool(pool)
(cuda.read_message(message, pool=counting).type, counting.max_memory())
cuda.read_message(message, pool="pool")
# Both are keywords only.
try:
    cuda.read_record_batch(message, batch.schema, memo)
except TypeError:
    "TypeError"
for wrong in ({"dictionary_memo": {}}, {"pool": "pool"}):
    try:
        read(**wrong)
    except TypeError:
        print("TypeError")
