# Tables, chunked arrays and readers of batches go to a device and back.
# shows: additions, Record batches
#   pyarrow.Table.copy_to: tables are copied to a device and back, all chunks together
#   pyarrow.ChunkedArray.copy_to: chunked arrays are copied; memory that chunks share is copied once
#   pyarrow.RecordBatchReader.copy_to: the batches of a reader are read ahead and copied in groups
#   pyarrow.Table.to_batches: the batches of a table on a device lie there
import pyarrow as pa
from pyarrow import cuda

ctx = cuda.Context()
host = pa.default_cpu_memory_manager()
before = ctx.bytes_allocated
numbers = pa.array(range(1000))
parts = pa.chunked_array([numbers.slice(0, 400), numbers.slice(400)])
there = parts.copy_to(ctx.memory_manager)
(there.type, there.num_chunks, there.is_cpu)
# Memory that chunks share is copied once.
ctx.bytes_allocated - before
there.copy_to(host).equals(parts)
del there
words = pa.chunked_array([["one"] * 400, [None] * 600])
table = pa.table({"x": parts, "s": words})
there = table.copy_to(ctx.device)
(there.is_cpu, there.schema.equals(table.schema), there.copy_to(host).equals(table))
# Its batches know where they lie, as those of its reader do.
[(batch.num_rows, batch.is_cpu) for batch in there.to_batches()]
[batch.is_cpu for batch in there.to_reader(max_chunksize=500)]
pa.Table.from_batches(there.to_batches()).copy_to(host).equals(table)
# The batches of a reader are read ahead, and those that were read are copied together.
done = []
reader = table.to_reader(400).copy_to(ctx, read_ahead=1 << 20, progress=lambda *d: done.append(d))
reader.read_next_batch().is_cpu
reader.read_all().is_cpu
done[-1][0]
there.to_reader().copy_to(host).read_all().equals(table)
part = there.slice(399, 3)
part["s"].null_count, part.copy_to(host).to_pydict()
codes = [pa.array(list(text)).dictionary_encode() for text in ("xyx", "zy" * 7)]
flags, names = [[True, None, False], [True] * 14], [["a", "bc", None], ["def"] * 14]
lists, pairs = [[[[1, 2], [], None], [[3]] * 14], [[(1, 2), None, (3, 4)], [(5, 6)] * 14]]
pairs = pa.chunked_array(pairs, pa.list_(pa.int8(), 2))
views = pa.chunked_array(lists, pa.list_view(pa.int8()))
texts = [["short", "a text of more than 12 bytes", None], ["another text of many bytes"] * 14]
texts = pa.chunked_array(texts, pa.string_view())
values = [pa.array([5, 6]), pa.array(["p", "q"])]
kinds = ([0, 1, 0], [0, 1, 1]), ([1, 0] * 7, [0, 1] * 7)
unions = [
    pa.UnionArray.from_dense(pa.array(kind, pa.int8()), pa.array(at, pa.int32()), values)
    for kind, at in kinds
]
columns = [*map(pa.chunked_array, (flags, names, codes, lists, unions)), pairs, views, texts]
mixed = pa.table(columns, list("fnclupvt"))
for rows in (mixed, mixed.slice(1)):
    whole = rows.copy_to(ctx).combine_chunks()
    print(whole["c"].num_chunks, whole.copy_to(host).to_pydict() == rows.to_pydict())
sink = pa.BufferOutputStream()
with pa.ipc.new_file(sink, there.schema) as writer:
    writer.write_table(there, 300)
pa.ipc.open_file(sink.getvalue()).num_record_batches
# Objects that are not destinations are refused.
try:
    table.copy_to("cuda")
except TypeError as error:
    print(str(error).partition(", got")[0])
# A reader that is closed has no more, even if more was copied.
closed = table.to_reader(1).copy_to(ctx, read_ahead=1 << 20)
[closed.read_next_batch().num_rows for _ in range(3)], closed.close()
closed.read_next_batch()
