"""Answers of pyarrow that are wrong.

For these, this package gives the right answer, or none.  The page's table names each of them; the
comparisons take the right answer for pyarrow's.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from math import nan
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

D = pa.decimal128
#: Two of these are more than 38 digits, and more than 128 bits.
LARGE = 9 * 10**37
_WRAPPED = 2 * LARGE - 2**128
_F = pc.field


class Fault(NamedTuple):
    """A call of pyarrow with a wrong answer."""

    #: As the page's table names it.
    text: str
    #: Makes data of one that copies arrays and tables to their place, and calls pyarrow with it.
    call: Callable[[Callable[[Any], Any]], Any]
    #: pyarrow's answer on the host, as values of Python.
    wrong: Any
    #: The right answer; None where the call is refused.
    right: Any = None


def numbers(*values: int | str | None, kind: pa.DataType | None = None) -> pa.Array:
    return pa.array([None if it is None else Decimal(it) for it in values], kind or D(38, 0))


def aggregated(there: Any, name: str, values: pa.Array, keys: list[Any] | None = None) -> Any:
    table = pa.table({"k": [1] * len(values) if keys is None else keys, "v": values})
    return there(table).group_by("k").aggregate([("v", name)])[f"v_{name}"]


VIEWS = pa.array(["a", None, ""], pa.string_view())
RUNS = pc.run_end_encode(pa.array([1, 1, None, 2]))
#: One value at two places of the dictionary.
TWICE = pa.DictionaryArray.from_arrays([0, 1, 2, 0], ["a", "a", "b"])
WITH_NULL = pa.DictionaryArray.from_arrays([0, 1], pa.array(["a", None]))
UNION = pa.UnionArray.from_sparse(pa.array([0, 0], pa.int8()), [pa.array([1, None])])
LISTS = pa.array([[1], [2, 3], [4]], pa.list_view(pa.int32()))


def _groups(there: Any) -> Any:
    table = pa.table({"k": TWICE, "v": [1, 2, 4, 8]})
    return there(table).group_by("k").aggregate([("v", "sum")])["v_sum"].combine_chunks()


FAULTS = [
    Fault(
        "decimals: `sum` beyond 128 bits, which wraps",
        lambda there: pc.sum(there(numbers(LARGE, LARGE))),
        _WRAPPED,
    ),
    Fault(
        "decimals in groups: `sum` beyond 128 bits",
        lambda there: aggregated(there, "sum", numbers(LARGE, LARGE)),
        [_WRAPPED],
    ),
    Fault(
        "decimals: `mean`, if the sum is beyond 128 bits",
        lambda there: pc.mean(there(numbers(LARGE, LARGE))),
        _WRAPPED // 2,
        LARGE,
    ),
    Fault(
        "decimals in groups: `mean`, if the sum is beyond 128 bits",
        lambda there: aggregated(there, "mean", numbers(LARGE, LARGE)),
        [_WRAPPED // 2],
    ),
    Fault(
        "decimals: `product`, which is rounded after each factor",
        lambda there: pc.product(there(numbers("0.05", "0.10", "100.00", kind=D(9, 2)))),
        Decimal("1.00"),
    ),
    Fault(
        "decimals in groups: `product`",
        lambda there: aggregated(there, "product", numbers("0.05", "0.10", "100", kind=D(9, 2))),
        [Decimal("1.00")],
    ),
    Fault(
        "views with null: `unique`, where null is the empty string",
        lambda there: there(VIEWS).unique(),
        ["a", "", ""],
    ),
    Fault(
        "views with null: `value_counts`",
        lambda there: there(VIEWS).value_counts(),
        [{"values": it, "counts": 1} for it in ("a", "", "")],
    ),
    Fault(
        'views with null: `dictionary_encode("encode")`',
        lambda there: there(VIEWS).dictionary_encode("encode"),
        ["a", "", ""],
    ),
    Fault(
        "list views: `cast` to lists, of which the last is empty",
        lambda there: there(LISTS).cast(pa.list_(pa.int64())),
        [[1], [2, 3], []],
    ),
    Fault(
        "slices of runs: `cast`, which starts at the first row",
        lambda there: there(RUNS.slice(2)).cast(RUNS.type),
        [1, 1],
    ),
    Fault(
        "dictionaries with a value twice: two groups for it",
        _groups,
        [9, 2, 4],
    ),
    Fault(
        "dictionaries with a value twice: `unique`",
        lambda there: there(TWICE).unique(),
        ["a", "a", "b"],
    ),
    Fault(
        "dictionaries with a value twice: `value_counts`",
        lambda there: there(TWICE).value_counts(),
        [{"values": it, "counts": count} for it, count in (("a", 2), ("a", 1), ("b", 1))],
    ),
    Fault(
        "dictionaries with a value twice: `count_distinct` in groups",
        lambda there: aggregated(there, "count_distinct", TWICE),
        [3],
    ),
    Fault(
        "dictionaries with null: `drop_null`, which keeps it",
        lambda there: there(WITH_NULL).drop_null(),
        ["a", None],
    ),
    Fault(
        "runs: `drop_null`, which keeps nulls",
        lambda there: there(RUNS).drop_null(),
        [1, 1, None, 2],
    ),
    Fault(
        "unions: `drop_null`, which keeps nulls",
        lambda there: there(UNION).drop_null(),
        [1, None],
    ),
]

#: Rows of a Parquet file, two in each row group.
ROWS = pa.table({"x": [1.0, nan, 1.0, None, -1.0, 0.0, 0.0, nan], "n": range(8)})
#: Filters for which pyarrow skips the row groups that only NaN would pass.
FILTERS_OF_NAN = [
    _F("x") != 1.0,
    ~(_F("x") == 1.0),
    ~(_F("x") > -5.0),
    _F("x").is_nan(),
    _F("x").is_null(nan_is_null=True),
    _F("x").isin([nan]),
    ~_F("x").isin([1.0]),
    _F("x") * 2 != 2.0,
    pc.if_else(_F("x") > 0.0, 1, 2) == 2,
    (_F("x") != 1.0) & (_F("n") < 6),
    (_F("x") != 1.0) | (_F("n") > 90),
    pc.field(0) != 1.0,
]


def read_table(path: Path, **chosen: Any) -> pa.Table:
    """As by pyarrow, with the rows of NaN that pass a filter."""
    filters, columns = chosen.pop("filters", None), chosen.pop("columns", None)
    schema = chosen.get("schema") or pq.read_schema(path)
    names = [name for name, operator, _ in filters or [] if operator in ("!=", "in")]
    if not any(pa.types.is_floating(schema.field(name).type) for name in names):
        return pq.read_table(path, filters=filters, columns=columns, **chosen)
    read = columns and [*dict.fromkeys([*columns, *names])]
    expected = pq.read_table(path, columns=read, **chosen)
    expected = expected.filter(pq.filters_to_expression(filters))
    return expected if columns is None else expected.select(columns)


def right(name: str, given: list[Any], options: Any, found: Any) -> Any:
    """pyarrow's answer, or the right one where that is wrong."""
    if name != "mean" or not isinstance(found, pa.Decimal128Scalar) or not found.is_valid:
        return found
    wide = given[0].cast(pa.decimal256(76, found.type.scale))
    return pa.array([pc.mean(wide, options=options)]).cast(found.type)[0]
