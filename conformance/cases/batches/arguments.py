# The options of reading: where metadata is allocated, and known dictionaries.
# shows: pyarrow_cuda
#   read_record_batch(dictionary_memo): known dictionaries, by keyword only; none by default
#   read_record_batch(pool): a memory pool for the metadata, by keyword only; the default one by
#     default
import pyarrow as pa
from pyarrow import cuda

ctx = cuda.Context()
host = pa.default_cpu_memory_manager()
batch = pa.record_batch({"x": [1, None, 3]})
message = cuda.serialize_record_batch(batch, ctx)
pool = pa.default_memory_pool()
memo = pa.lib.DictionaryMemo()


def read(**options):
    there = cuda.read_record_batch(message, batch.schema, **options)
    return there.copy_to(host).equals(batch)


read(dictionary_memo=None, pool=None)
read(dictionary_memo=memo)
read(pool=pool)
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
