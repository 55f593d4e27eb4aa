# pyarrow's own functions compute on the device, by libcudf.
# needs: gpu, pylibcudf
# shows: additions, Computing
#   pyarrow.compute: functions of arrays stay on the device; aggregates are scalars on the host
#   pyarrow.Table: filters, groups, joins and sorted rows of tables on the device
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import cuda

ctx, host = cuda.Context(0), pa.default_cpu_memory_manager()
x = pa.array([1, 2, None, 4]).copy_to(ctx)
y = pc.add(x, 0.5)
y.is_cpu
y.copy_to(host).to_pylist()
pc.sum(y), pc.min_max(x), x.sum(skip_nulls=False)
pc.greater(x, pa.array([0, 2, 0, 0])).copy_to(host).to_pylist()
words = pa.chunked_array([["one", "two"], ["Three"]]).copy_to(ctx)
pc.utf8_upper(words).copy_to(host).to_pylist()
pc.sort_indices(words).copy_to(host).to_pylist()
table = pa.table({"k": ["a", "b", "a", None], "x": x, "t": ["x"] * 4})
table = table.copy_to(ctx)
table.filter(pc.field("x") > 1).copy_to(host).to_pydict()
table.take(pa.array([3, 0])).copy_to(host)["k"].to_pylist()
groups = table.group_by("k").aggregate([("x", "sum"), ([], "count_all")])
groups.sort_by("k").copy_to(host).to_pydict()
joined = table.join(pa.table({"k": ["a"], "y": [9]}), "k", join_type="inner")
joined.sort_by("x").copy_to(host).to_pydict()
# libcudf would give another answer to the first of these calls, so it is refused.
pc.cumulative_sum(x, start=1)
pc.take(x, pa.array([4]))
pc.add_checked(x, pa.scalar(2**63 - 1))
