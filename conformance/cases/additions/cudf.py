# cuDF's library works on device data without a copy, and its tables become record batches.
# needs: gpu, pylibcudf
# shows: additions, Other libraries
#   pylibcudf: cuDF's tables and columns share memory with arrays, batches and tables
import pyarrow as pa
import pylibcudf
from pyarrow import cuda

ctx = cuda.Context(0)
host = pa.default_cpu_memory_manager()
table = pa.table({"price": [1.5, None, 8.0], "name": ["a", "bc", None]}).copy_to(ctx)
column = pylibcudf.Column.from_arrow(table["price"])
column.data().__cuda_array_interface__["data"][0] == table["price"].chunk(0).buffers()[1].address
(column.size(), column.null_count())
# The chunks of a table become one first.
two = pa.concat_tables([table, table])
theirs = pylibcudf.Table.from_arrow(two)
(theirs.num_rows(), theirs.num_columns())
order = [pylibcudf.types.Order.ASCENDING] * 2
nulls = [pylibcudf.types.NullOrder.BEFORE] * 2
ordered = pa.record_batch(pylibcudf.sorting.sort(theirs, order, nulls)).rename_columns(
    two.column_names
)
ordered.column(0).is_cpu
del table, two, theirs, column
ordered.copy_to(host).to_pydict()
# Data on the host goes to cuDF as before, by its stream.
hasattr(pa.table({"x": [1]}), "__arrow_c_device_array__")
