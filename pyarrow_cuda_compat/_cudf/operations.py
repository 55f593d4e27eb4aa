"""libcudf's operations, by the names and in the forms that several kernels need."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Context, Decimal, localcontext
from math import isnan
from typing import Any

import pyarrow as pa
import pylibcudf as plc  # type: ignore[import-not-found,unused-ignore]

from .columns import scalar_of

BOOL = plc.DataType(plc.TypeId.BOOL8)
INT64 = plc.DataType(plc.TypeId.INT64)
FLOAT64 = plc.DataType(plc.TypeId.FLOAT64)
INT32 = plc.DataType(plc.TypeId.INT32)
#: Holds each sum, difference and product of two integers of 64 bits.
WIDE = plc.DataType(plc.TypeId.DECIMAL128, 0)

Operator = plc.binaryop.BinaryOperator
Unary = plc.unary.UnaryOperator
Order, NullOrder = plc.types.Order, plc.types.NullOrder
_Tree = plc.expressions
_Nulls, _Bounds = plc.types.NullPolicy, plc.copying.OutOfBoundsPolicy
EQUAL, NANS_EQUAL = plc.types.NullEquality.EQUAL, plc.types.NanEquality.ALL_EQUAL
#: Floating-point types, and integers with as many bits.
_BITS = ((plc.DataType(plc.TypeId.FLOAT32), INT32), (FLOAT64, INT64))
FIRST = plc.stream_compaction.DuplicateKeepOption.KEEP_FIRST


def scalar(value: Any, kind: Any = None) -> Any:
    """A scalar; the type is one of pyarrow or of libcudf."""
    if isinstance(kind, plc.DataType):
        kind = kind.to_arrow()
    return scalar_of(pa.scalar(value, kind))


def binary(operator: str, left: Any, right: Any, kind: Any = BOOL) -> Any:
    return plc.binaryop.binary_operation(left, right, getattr(Operator, operator), kind)


def unary(operator: str, column: Any) -> Any:
    return plc.unary.unary_operation(column, getattr(Unary, operator))


def cast(value: Any, kind: Any) -> Any:
    """A column or scalar of another type, as libcudf converts values."""
    if value.type() == kind:
        return value
    if isinstance(value, plc.Scalar):
        return plc.unary.cast(plc.Column.from_scalar(value, 1), kind).to_scalar()
    return plc.unary.cast(value, kind)


def same_bits(value: Any, kind: Any) -> Any:
    """A column or scalar whose bits another type reads."""
    if value.type() == kind:
        return value
    if isinstance(value, plc.Scalar):
        return plc.unary.bit_cast(plc.Column.from_scalar(value, 1), kind).copy().to_scalar()
    return plc.unary.bit_cast(value, kind)


def keys_of(column: Any) -> Any:
    """The column, but of floating-point numbers their bits, by which pyarrow tells keys apart."""
    bits = next((bits for kind, bits in _BITS if kind == column.type()), column.type())
    return same_bits(column, bits)


def unscaled(column: Any) -> Any:
    """The integers of which the decimals of a column are made, over the same memory."""
    return scaled(column, WIDE)


def scaled(integers: Any, kind: Any) -> Any:
    """The decimals of a type that integers make, over the same memory."""
    facts = integers.data(), integers.null_mask(), integers.null_count(), integers.offset()
    return plc.Column(kind, integers.size(), *facts, [])


def order_key(column: Any, nan: int) -> Any:
    """Integers in the order of floating-point numbers, where both zeros are one.  NaN becomes a
    number that no other value has."""
    bits = keys_of(column)
    kind = bits.type()
    first = smallest(kind.to_arrow())
    is_negative = binary("LESS", bits, scalar(0, kind))
    key = choose(is_negative, binary("SUB", first, bits, kind), bits)
    return choose(is_nan(column), scalar(nan, kind), key)


def wide(value: int) -> Any:
    """A scalar of the type of `WIDE`."""
    return scalar(Decimal(value), pa.decimal128(38))


def on_wide(operator: str, left: Any, right: Any) -> Any:
    """An operation on integers of 128 bits, of which the right one may be Python's."""
    return binary(operator, left, wide(right) if isinstance(right, int) else right, WIDE)


def is_odd(integers: Any) -> Any:
    """Of integers of 128 bits."""
    pairs = on_wide("MUL", on_wide("DIV", integers, 2), 2)
    return binary("NOT_EQUAL", pairs, integers)


def first_where(mask: Any, column: Any) -> Any:
    """The first value of those where a mask is true."""
    return plc.copying.get_element(one(kept(plc.Table([column]), mask)), 0)


def column_of(value: Any, rows: int) -> Any:
    return plc.Column.from_scalar(value, rows) if isinstance(value, plc.Scalar) else value


def invert(mask: Any) -> Any:
    return unary("NOT", mask)


def is_valid(value: Any) -> Any:
    return plc.unary.is_valid(value)


def is_nan(column: Any) -> Any:
    """Null where the column is."""
    return binary("NOT_EQUAL", column, column)


def filled(column: Any, value: Any) -> Any:
    """With a value, or those of another column, where the column is null."""
    return plc.replace.replace_nulls(column, value)


def choose(mask: Any, yes: Any, no: Any) -> Any:
    """`no` where the mask is false or null."""
    return plc.copying.copy_if_else(yes, no, mask)


def null_where(mask: Any, column: Any) -> Any:
    nothing = plc.Column.all_null_like(column, 1).to_scalar()
    return choose(mask, nothing, column)


def has_nan(column: Any) -> bool:
    """Whether the sum is NaN: true also of some columns with infinite numbers of both signs."""
    total = reduced(column, plc.aggregation.sum()).to_py()
    return total is not None and isnan(total)


def computed(expression: Any, *columns: Any) -> Any:
    """Whether an expression is true of each row, in one pass.  It is a name of an operator of
    libcudf's and its operands: such expressions, scalars, and numbers of columns.  Or it is what
    `program` has made of one."""
    if not columns[0].size():
        return plc.Column.from_scalar(scalar(False), 0)  # no kernel is started for no rows
    made = program(expression) if isinstance(expression, tuple) else expression
    return plc.transform.compute_column(plc.Table(list(columns)), made)


def program(part: Any) -> Any:
    """libcudf's form of an expression, which may be computed many times."""
    if isinstance(part, tuple):
        operator, *operands = part
        return _Tree.Operation(getattr(_Tree.ASTOperator, operator), *map(program, operands))
    return _Tree.ColumnReference(part) if isinstance(part, int) else _Tree.Literal(part)


def are_finite(column: Any) -> bool:
    """Whether no value of a column of floating-point numbers is NaN or infinite."""
    infinity = scalar(float("inf"), column.type())
    return is_everywhere(computed(("LESS", ("ABS", 0), infinity), column))


def are_within(column: Any, most: int) -> bool:
    """Whether all numbers or times of a column are from ``-most`` to ``most``."""
    kind = column.type()
    bits = 8 * plc.types.size_of(kind)
    if most >= 2 ** (bits - 1) and bits < 64:
        return True
    if plc.traits.is_chrono(kind):
        column = same_bits(column, INT32 if bits == 32 else INT64)
    return all(each is None or abs(each) <= most for each in ends_of(column))


def have_exact_sum(column: Any, kind: pa.DataType, digits: int = 37) -> bool:
    """Whether no sum of decimals of a column has more than so many digits, nor wraps."""
    most = (10**digits - 1) // max(column.size(), 1)
    return bool(10**kind.precision <= most) or are_within(unscaled(column), most)


#: Splits integers of 128 bits into halves, of which no column has so many that their sum wraps.
_HALF = 10**19


def sum_of_integers(column: Any, kind: pa.DataType) -> int:
    """The sum of the integers of which the decimals of a column are made, of any size."""
    integers = unscaled(column)
    if have_exact_sum(column, kind):
        return _sum(integers)
    upper = on_wide("DIV", integers, _HALF)
    lower = on_wide("SUB", integers, on_wide("MUL", upper, _HALF))
    return _sum(upper) * _HALF + _sum(lower)


def _sum(integers: Any) -> int:
    return integer_of(reduced(integers, plc.aggregation.sum())) or 0


def ends_of(column: Any) -> list[Any]:
    """The smallest and the largest number; None without any."""
    if column.type() == WIDE:
        ends = (reduced(column, each()) for each in (plc.aggregation.min, plc.aggregation.max))
        return [*map(integer_of, ends)]
    return [each.to_py() for each in plc.reduce.minmax(column)]


def integer_of(scalar: Any) -> int | None:
    """A decimal without digits behind the point.  pylibcudf's `to_py` rounds to the digits of the
    thread's decimal context, which the program may set."""
    with localcontext(Context(prec=40)):
        found = scalar.to_py()
    return None if found is None else int(found)


def is_anywhere(mask: Any) -> bool:
    return bool(mask.size()) and bool(plc.reduce.reduce(mask, plc.aggregation.any(), BOOL).to_py())


def is_everywhere(mask: Any) -> bool:
    """Whether a mask is false nowhere."""
    found = not mask.size() or plc.reduce.reduce(mask, plc.aggregation.all(), BOOL).to_py()
    return found is not False


def counter(rows: int) -> Any:
    """0, 1, 2 and so on."""
    return plc.filling.sequence(rows, scalar(0, pa.int32()), scalar(1, pa.int32()))


def on_int64(operator: str, left: Any, right: Any) -> Any:
    """An operation on integers of 64 bits, of which the right one may be Python's."""
    right = scalar(right, pa.int64()) if isinstance(right, int) else right
    return binary(operator, left, right, INT64)


def rest(value: Any, unit: int) -> Any:
    """How far each integer of 64 bits is above the multiple of a unit below it."""
    found = on_int64("MOD", value, unit)
    is_negative = binary("LESS", found, scalar(0, pa.int64()))
    return choose(is_negative, on_int64("ADD", found, unit), found)


def smallest(kind: pa.DataType) -> Any:
    """The smallest integer of a type with a sign."""
    return scalar(-(2 ** (kind.bit_width - 1)), kind)


def kept(table: Any, mask: Any) -> Any:
    """The rows where a mask is true."""
    return plc.stream_compaction.apply_retention_mask(table, mask)


def places(mask: Any) -> Any:
    """The numbers of the rows where a mask is true."""
    return kept(plc.Table([counter(mask.size())]), mask).columns()[0]


def lower_bound(ordered: Any, values: Any) -> Any:
    """How many values of a column in order are less than each value.  null is the largest one."""
    tables = plc.Table([ordered]), plc.Table([values])
    return plc.search.lower_bound(*tables, [Order.ASCENDING], [NullOrder.AFTER])


def are_among(rows: int, numbers: Any) -> Any:
    """Whether the number of each row is among others."""
    if not numbers.size():
        return plc.Column.from_scalar(scalar(False), rows)
    return plc.search.contains(numbers, counter(rows))


def gathered(table: Any, rows: Any, *, may_lack: bool = False) -> Any:
    """The rows with these numbers, of which one that is too large gives null if it may."""
    policy = _Bounds.NULLIFY if may_lack else _Bounds.DONT_CHECK
    return plc.copying.gather(table, rows, policy)


def one(table: Any) -> Any:
    """The column of a table of one."""
    return table.columns()[0]


def first_rows(column: Any) -> Any:
    """The distinct values in the order of their first appearance; null is one."""
    table = plc.Table([keys_of(column)])
    distinct = plc.stream_compaction.stable_distinct(table, [0], FIRST, EQUAL, NANS_EQUAL)
    return same_bits(one(distinct), column.type())


def without_nulls(columns: Sequence[Any]) -> Any:
    """The rows in which no column is null."""
    keys = list(range(len(columns)))
    return plc.stream_compaction.drop_nulls(plc.Table(list(columns)), keys, len(keys))


def valid(column: Any) -> Any:
    """The values that are not null."""
    return one(without_nulls([column])) if column.null_count() else column


def regex(pattern: str) -> Any:
    flags = plc.strings.regex_flags.RegexFlags.DEFAULT
    return plc.strings.regex_program.RegexProgram.create(pattern, flags)


def matches(strings: Any, pattern: str) -> Any:
    """Whether a regular expression matches somewhere in each string."""
    return plc.strings.contains.contains_re(strings, regex(pattern))


def reduced(column: Any, aggregation: Any, kind: Any = None) -> Any:
    """A scalar of the column's own type, or of another."""
    return plc.reduce.reduce(column, aggregation, column.type() if kind is None else kind)


def order_of(keys: Sequence[tuple[Any, bool, bool]], *, is_float: Sequence[bool]) -> Any:
    """The numbers of the rows in a stable order.  A key is a column, whether it descends and
    whether nulls come first; NaN stands beside the nulls, as pyarrow has it."""
    columns: list[Any] = []
    orders: list[Any] = []
    nulls: list[Any] = []
    for (column, descends, nulls_first), may_be_nan in zip(keys, is_float, strict=True):
        # libcudf takes NaN for the largest number, and one NaN for larger than another.  A second
        # key takes twice as long as looking for them.
        if may_be_nan and has_nan(column):
            columns.append(is_nan(column))
            orders.append(Order.DESCENDING if nulls_first else Order.ASCENDING)
            nulls.append(null_order(nulls_first, nulls_first))
        columns.append(column)
        orders.append(Order.DESCENDING if descends else Order.ASCENDING)
        nulls.append(null_order(descends, nulls_first))
    return plc.sorting.stable_sorted_order(plc.Table(columns), orders, nulls)


def null_order(descends: bool, nulls_first: bool) -> Any:
    """libcudf says whether nulls are smaller than values, which a descending order turns around."""
    return NullOrder.BEFORE if descends != nulls_first else NullOrder.AFTER


def exact(operator: str, left: Any, right: Any, result: Any) -> bool:
    """Whether the result of an operation on integers has not overflowed."""
    wide = binary(operator, cast(left, WIDE), cast(right, WIDE), WIDE)
    return not is_anywhere(binary("NOT_EQUAL", wide, cast(result, WIDE)))
