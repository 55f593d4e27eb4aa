"""Who else computes what `calls.py` lists: pyarrow on the host, and libcudf called by hand."""

from importlib import import_module
from importlib.metadata import version
from typing import Any

import pyarrow as pa

from ..measure import nothing
from .arrow import Ours
from .base import Peer
from .calls import CALLS, Compute


class OnHost(Peer):
    title = "pyarrow on the host"

    def __init__(self) -> None:
        self.versions = {"pyarrow": pa.__version__}
        self.wait = nothing
        self.compute = CALLS.__getitem__
        self.table_up = self.result_down = lambda data: data


class PyLibcudf(Peer):
    """libcudf called by hand, with this package's memory resource: from Arrow data on the device to
    Arrow data on the device.
    """

    title = "pylibcudf"

    def __init__(self) -> None:
        self.plc = plc = import_module("pylibcudf")
        package = Ours()
        memory = import_module("pyarrow_cuda_compat.rmm").memory_resource()
        import_module("rmm.mr").set_current_device_resource(memory)
        self.versions = {"pylibcudf": version("pylibcudf-cu13")}
        self.wait, self.table_up = package.wait, package.table_up
        self.result_down = package.result_down
        self.doubles, self.booleans = (
            plc.DataType(getattr(plc.TypeId, name)) for name in ("FLOAT64", "BOOL8")
        )

    def compute(self, call: str) -> Compute:
        method = getattr(self, call.replace(" ", "_"))
        return lambda table: method(table)

    def column(self, table: pa.Table, name: str) -> Any:
        return self.plc.Column.from_arrow(table[name].chunk(0))

    def add(self, table: pa.Table) -> pa.Array:
        number, add = self.column(table, "number"), self.plc.binaryop.BinaryOperator.ADD
        return arrow(self.plc.binaryop.binary_operation(number, number, add, self.doubles))

    def sum(self, table: pa.Table) -> pa.Scalar:
        number, sum_ = self.column(table, "number"), self.plc.aggregation.sum()
        return self.plc.reduce.reduce(number, sum_, self.doubles).to_arrow()

    def greater_and_filter(self, table: pa.Table) -> pa.Array:
        plc, number = self.plc, self.column(table, "number")
        half = plc.Scalar.from_arrow(pa.scalar(0.5))
        greater = plc.binaryop.BinaryOperator.GREATER
        mask = plc.binaryop.binary_operation(number, half, greater, self.booleans)
        found = plc.stream_compaction.apply_boolean_mask(plc.Table([number]), mask)
        return arrow(found.columns()[0])

    def sort_indices(self, table: pa.Table) -> pa.Array:
        plc = self.plc
        order, nulls = [plc.types.Order.ASCENDING], [plc.types.NullOrder.AFTER]
        columns = plc.Table([self.column(table, "number")])
        return arrow(plc.sorting.stable_sorted_order(columns, order, nulls))

    def take(self, table: pa.Table) -> pa.Array:
        plc, index = self.plc, self.column(table, "index")
        columns = plc.Table([self.column(table, "number")])
        policy = plc.copying.OutOfBoundsPolicy.DONT_CHECK
        return arrow(plc.copying.gather(columns, index, policy).columns()[0])

    def cast(self, table: pa.Table) -> pa.Array:
        return arrow(self.plc.unary.cast(self.column(table, "key"), self.doubles))

    def utf8_upper(self, table: pa.Table) -> pa.Array:
        return arrow(self.plc.strings.case.to_upper(self.column(table, "word")))

    def match_substring(self, table: pa.Table) -> pa.Array:
        wanted = self.plc.Scalar.from_arrow(pa.scalar("77"))
        return arrow(self.plc.strings.find.contains(self.column(table, "word"), wanted))

    def group_by(self, table: pa.Table) -> pa.Table:
        plc = self.plc
        wanted = [plc.aggregation.sum(), plc.aggregation.mean()]
        request = plc.groupby.GroupByRequest(self.column(table, "number"), wanted)
        groups = plc.groupby.GroupBy(plc.Table([self.column(table, "key")]))
        keys, results = groups.aggregate([request])
        columns = [*keys.columns(), *results[0].columns()]
        return pa.table(list(map(arrow, columns)), ["key", "number_sum", "number_mean"])

    def join(self, table: pa.Table) -> pa.Table:
        plc = self.plc
        left, right = (plc.Table([self.column(table, name)]) for name in ("row", "key"))
        found = plc.join.left_semi_join(left, right, plc.types.NullEquality.UNEQUAL)
        policy = plc.copying.OutOfBoundsPolicy.DONT_CHECK
        return pa.table([arrow(plc.copying.gather(left, found, policy).columns()[0])], ["row"])


def arrow(column: Any) -> pa.Array:
    return pa.Array._import_from_c_device_capsule(*column.__arrow_c_device_array__())
