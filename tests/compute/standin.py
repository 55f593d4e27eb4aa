"""Stands in for pylibcudf on the simulated device: columns are pyarrow's arrays on the host.

It has what the tests of `_compute` call, by pyarrow's own functions, and names for all else that
the rows name when they are imported.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from types import ModuleType
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

HOST = pa.default_cpu_memory_manager()


class Names:
    """Any attribute is such an object again, and the same each time."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        made = Names(name)
        setattr(self, name, made)
        return made

    def __call__(self, *_: Any) -> Any:
        return self


class DataType:
    def __init__(self, kind: Any, _scale: int = 0) -> None:
        self.kind = kind if isinstance(kind, pa.DataType) else _KINDS[kind._name]

    @staticmethod
    def from_arrow(kind: pa.DataType) -> DataType:
        return DataType(kind)

    def to_arrow(self) -> pa.DataType:
        return self.kind

    def id(self) -> Any:
        return next(
            (getattr(TypeId, name) for name, it in _KINDS.items() if it == self.kind), self.kind
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DataType) and other.kind == self.kind

    def __hash__(self) -> int:
        return hash(self.kind)


TypeId = Names("TypeId")
_KINDS = {
    "BOOL8": pa.bool_(),
    "INT8": pa.int8(),
    "INT16": pa.int16(),
    "UINT8": pa.uint8(),
    "UINT16": pa.uint16(),
    "UINT32": pa.uint32(),
    "INT32": pa.int32(),
    "INT64": pa.int64(),
    "UINT64": pa.uint64(),
    "FLOAT32": pa.float32(),
    "FLOAT64": pa.float64(),
    "DECIMAL128": pa.decimal128(38, 0),
    "TIMESTAMP_DAYS": pa.date32(),
}


class Scalar:
    def __init__(self, value: pa.Scalar) -> None:
        self.value = value

    from_arrow = classmethod(lambda cls, value: cls(value))

    def to_arrow(self) -> pa.Scalar:
        return self.value

    def to_py(self) -> Any:
        return self.value.as_py()

    def type(self) -> DataType:
        return DataType(self.value.type)

    def is_valid(self) -> bool:
        return bool(self.value.is_valid)


class Column:
    """Of pyarrow's array, or of memory as pylibcudf describes it."""

    def __init__(self, value: Any, size: int = 0, data: Any = None, *more: Any) -> None:
        self.value = value
        if isinstance(value, DataType):
            mask, nulls, offset, _children = more
            assert data.ptr % (value.kind.bit_width // 8) == 0
            spans = [it for it in (mask, data) if it is not None]
            assert all(it.owner.address == it.ptr and not it.owner.is_cpu for it in spans)
            buffers = [it and it.owner for it in (mask, data)]
            self.value = _imported(pa.Array.from_buffers(value.kind, size, buffers, nulls, offset))

    @staticmethod
    def from_arrow(array: pa.Array) -> Column:
        return Column(_imported(array))

    def __arrow_c_device_array__(self) -> Any:
        from pyarrow import cuda

        from pyarrow_cuda_compat import _native

        array = pa.concat_arrays([self.value])
        current = cuda.Context(_native._current_device())
        return array.copy_to(current).__arrow_c_device_array__()

    def type(self) -> DataType:
        return DataType(self.value.type)

    def size(self) -> int:
        return len(self.value)

    def null_count(self) -> int:
        return int(self.value.null_count)

    def offset(self) -> int:
        return 0

    def data(self) -> None:
        """The bytes of strings, which are looked at only on a device."""

    @staticmethod
    def from_scalar(scalar: Scalar, rows: int) -> Column:
        return Column(pa.array([scalar.value.as_py()] * rows, scalar.value.type))

    def to_scalar(self) -> Scalar:
        return Scalar(self.value[0])


class Table:
    def __init__(self, columns: list[Column]) -> None:
        self.value = list(columns)

    def columns(self) -> list[Column]:
        return self.value

    @staticmethod
    def from_arrow(batch: pa.RecordBatch) -> Table:
        return Table([Column.from_arrow(each) for each in batch.columns])

    def num_rows(self) -> int:
        return self.value[0].size()


def _imported(array: pa.Array) -> pa.Array:
    CALLS.append("import")
    return array.copy_to(HOST)


#: The calls, by which tests see that the stand-in has answered.
CALLS: list[str] = []
_BINARY = {
    "ADD": pc.add,
    "SUB": pc.subtract,
    "MUL": pc.multiply,
    "EQUAL": pc.equal,
    "NOT_EQUAL": pc.not_equal,
    "LESS": pc.less,
    "GREATER": pc.greater,
    "GREATER_EQUAL": pc.greater_equal,
    "LOGICAL_AND": pc.and_,
    "NULL_LOGICAL_AND": pc.and_kleene,
}
_TREE = _BINARY | {"NULL_LOGICAL_OR": pc.or_kleene, "NOT": pc.invert}
_TREE |= {"LESS_EQUAL": pc.less_equal}


def _binary(left: Any, right: Any, operator: Any, kind: DataType) -> Column:
    CALLS.append(operator._name)
    result = _BINARY[operator._name](_narrow(left.value), _narrow(right.value))
    return Column(result.cast(kind.kind))


def _narrow(value: Any) -> Any:
    """Decimals whose sum has a type, too."""
    return value.cast(pa.decimal128(20, 0)) if pa.types.is_decimal(value.type) else value


def _reduce(column: Column, aggregation: Any, kind: DataType) -> Scalar:
    CALLS.append(aggregation._name)
    return Scalar(getattr(pc, aggregation._name)(column.value).cast(kind.kind))


def _gathered(table: Table, rows: Column, _: Any) -> Table:
    CALLS.append("gather")
    return Table([Column(each.value.take(rows.value)) for each in table.value])


def _order(table: Table, orders: list[Any], _: Any) -> Column:
    CALLS.append(f"sort by {len(table.value)}")
    keys = {str(place): column.value for place, column in enumerate(table.value)}
    order = [(str(place), each._name.lower()) for place, each in enumerate(orders)]
    return Column(pc.sort_indices(pa.table(keys), order).cast(pa.int32()))


def _computed(table: Table, part: Any) -> Column:
    CALLS.append("compute_column")
    return Column(_value(table, part))


def _value(table: Table, part: Any) -> Any:
    """The value of a part of an expression: its name, and what it was made of."""
    kind, *made_of = part
    if kind == "column":
        return table.value[made_of[0]].value
    if kind == "literal":
        return made_of[0].value
    operator, *operands = made_of
    return _TREE[operator._name](*(_value(table, each) for each in operands))


def _kept(table: Table, mask: Column) -> Table:
    return Table([Column(each.value.filter(mask.value)) for each in table.value])


def _fail(*_: Any) -> Any:
    raise FAILURE()


#: Makes what `sorting.rank` raises.
FAILURE: Callable[[], BaseException] = partial(RuntimeError, "CUDF failure at: a check")


def module() -> ModuleType:
    """The module, with the functions that the tests need."""
    made = ModuleType("pylibcudf")
    names = Names("pylibcudf")
    vars(made).update(
        __getattr__=lambda name: getattr(names, name),
        Column=Column,
        Scalar=Scalar,
        Table=Table,
        DataType=DataType,
        TypeId=TypeId,
    )
    names.binaryop.binary_operation = _binary
    names.reduce.reduce = _reduce
    names.transform.compute_column = _computed
    for name, kind in (("Operation", ""), ("ColumnReference", "column"), ("Literal", "literal")):
        setattr(names.expressions, name, partial(lambda kind, *made_of: (kind, *made_of), kind))
    names.unary.cast = lambda column, kind: Column(column.value.cast(kind.kind, safe=False))
    names.unary.bit_cast = lambda column, kind: Column(column.value.view(kind.kind))
    names.reduce.minmax = lambda column: tuple(map(Scalar, pc.min_max(column.value).values()))
    names.copying.gather = _gathered
    names.sorting.stable_sorted_order = _order
    names.strings.case.to_upper = lambda column: Column(pc.utf8_upper(column.value))
    names.strings.attributes.count_bytes = lambda it: Column(pc.binary_length(it.value))
    names.strings.attributes.count_characters = lambda it: Column(pc.utf8_length(it.value))
    names.unary.is_null = lambda column: Column(column.value.is_null())
    names.stream_compaction.apply_retention_mask = _kept
    names.sorting.rank = _fail
    return made


def install() -> Any:
    """The rows over this stand-in."""
    sys.modules["pylibcudf"] = module()
    from pyarrow_cuda_compat._compute import rows

    return rows
