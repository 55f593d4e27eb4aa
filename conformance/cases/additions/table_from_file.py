# An Arrow file is read into a table on the device.
# shows: additions, Device buffers
#   Context.table_from_file: a table on the device with the columns of an Arrow file or stream,
#     compressed or not
#   Context.table_from_file(source): a path, a descriptor, an open file, or the bytes of one
#   Context.table_from_file(columns): the names of the columns to read, in the table's order; by
#     default all
#   Context.table_from_file(progress): is called with the number of bytes that have arrived, and
#     that of all
import pathlib
import tempfile

import pyarrow as pa
from pyarrow import cuda, feather

ctx = cuda.Context()
host = pa.default_cpu_memory_manager()
prices = pa.table({"price": [1.5, None, 2.5], "name": ["a", "bc", None]})
folder = tempfile.TemporaryDirectory()
path = pathlib.Path(folder.name, "prices.arrow")
feather.write_feather(prices, str(path), compression="zstd")
table = ctx.table_from_file(path)
table.schema
table["price"].chunk(0).is_cpu
table.copy_to(host).equals(prices)
# Columns by name; a callback tells how much has arrived on the device.
names = ctx.table_from_file(source=path, columns=["name"], progress=print)
names.copy_to(host).to_pydict()
with path.open("rb") as file:
    ctx.table_from_file(file).num_rows, ctx.table_from_file(file.fileno()).num_rows, file.tell()

# A stream, and bytes that are in memory already.
sink = pa.BufferOutputStream()
options = pa.ipc.IpcWriteOptions(compression="lz4")
with pa.ipc.new_stream(sink, prices.schema, options=options) as writer:
    for begin in range(3):
        writer.write_table(prices.slice(begin, 1))

stream = sink.getvalue()
table = ctx.table_from_file(stream)
table["name"].num_chunks
table.copy_to(host).equals(prices)
ctx.table_from_file(ctx.buffer_from_data(stream)).num_rows
# A name that no column has, a file that is cut off, and something else are refused.
ctx.table_from_file(path, columns=["amount"])
ctx.table_from_file(path, columns="price")
ctx.table_from_file(b"ARROW1" + bytes(20))
ctx.table_from_file(b"price,name")
ctx.table_from_file(path, progress=1)
ctx.table_from_file(None)
many = pa.table({"x": range(400_000), "d": pa.array(["a", "b"] * 200_000).dictionary_encode()})
feather.write_feather(many, str(path), compression="uncompressed")
ctx.table_from_file(path).copy_to(host).equals(many)
ctx.table_from_file("/dev/zero")
feather.write_feather(prices.slice(0, 0).select([]), str(path))
ctx.table_from_file(path, progress=print).num_rows
folder.cleanup()
