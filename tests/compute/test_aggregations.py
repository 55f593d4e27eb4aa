"""Aggregations of groups, under pyarrow's rules for nulls and NaN, compared with the host."""

import math
from decimal import Decimal

import pyarrow as pa
import pyarrow.compute as pc
import pytest

pytestmark = [pytest.mark.simulator, pytest.mark.usefixtures("libcudf")]
HOST = pa.default_cpu_memory_manager()
NAN = math.nan
KEYS = ["a", "b", "a", "c", "b", "a", "d", "c", "a"]
NUMBERS = [None, 4, 1, None, None, 3, 7, None, 1]
COLUMNS = {
    "int8": pa.array(NUMBERS, pa.int8()),
    "uint32": pa.array(NUMBERS, pa.uint32()),
    "int64": pa.array(NUMBERS, pa.int64()),
    "double": pa.array([1.5, None, NAN, NAN, -2.0, None, NAN, None, math.inf]),
    "float": pa.array([1.5, None, NAN, NAN, -2.0, None, NAN, None, math.inf], pa.float32()),
    "finite": pa.array([1.5, None, 2.5, None, -2.0, None, 4.0, None, 0.5]),
    "string": pa.array(["x", None, "", None, "y", "x", "b", None, "x"]),
    "bool": pa.array([True, None, False, None, True, None, False, None, True]),
    "decimal": pa.array([it and Decimal(it) / 4 for it in NUMBERS], pa.decimal128(9, 2)),
    "date": pa.array(NUMBERS, pa.int32()).cast(pa.date32()),
    "time": pa.array(NUMBERS, pa.int64()).cast(pa.timestamp("us", "UTC")),
    "zeros": pa.array([0.0, -0.0, 0.0, NAN, 1.0, None, 0.0, NAN, 0.0]),
}
TABLE = pa.table({"k": KEYS, **COLUMNS})
RULES = [
    pc.ScalarAggregateOptions(skip_nulls=skips, min_count=least)
    for skips in (True, False)
    for least in (0, 1, 2, 3)
]


def same(one, other):
    """Also NaN, and structs and lists with it."""
    if isinstance(one, float) and isinstance(other, float):
        return one == other or (one != one and other != other) or math.isclose(one, other)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[it], other[it]) for it in one)
    return type(one) is type(other) and one == other


def compared(there, wanted, keys="k", table=TABLE):
    """The same groups, or the same class of error."""
    try:
        expected = table.group_by(keys, use_threads=False).aggregate(wanted)
    except pa.ArrowException as error:
        with pytest.raises(type(error)):
            there(table).group_by(keys, use_threads=False).aggregate(wanted)
        return
    found = there(table).group_by(keys, use_threads=False).aggregate(wanted)
    assert not found.is_cpu
    found = found.copy_to(HOST)
    found.validate(full=True)
    assert found.schema.equals(expected.schema, check_metadata=True)
    for one, other in zip(found.columns, expected.columns, strict=True):
        assert same(one.to_pylist(), other.to_pylist())


@pytest.mark.parametrize("options", [None, *RULES], ids=str)
@pytest.mark.parametrize("name", ["min", "max", "min_max", "first", "last", "first_last"])
@pytest.mark.parametrize("column", [name for name in COLUMNS if name != "zeros"])
def test_extremes_and_ends(there, column, name, options):
    compared(there, [(column, name, options)] if options else [(column, name)])


@pytest.mark.parametrize("options", RULES, ids=str)
@pytest.mark.parametrize("name", ["sum", "product", "mean"])
@pytest.mark.parametrize("column", ["int8", "uint32", "int64", "finite", "bool"])
def test_totals(there, column, name, options):
    compared(there, [(column, name, options)])


@pytest.mark.parametrize("options", RULES, ids=str)
@pytest.mark.parametrize("name", ["any", "all"])
def test_booleans(there, name, options):
    compared(there, [("bool", name, options)])


@pytest.mark.parametrize("skips", [True, False])
@pytest.mark.parametrize("least", [0, 2])
@pytest.mark.parametrize("column", ["int8", "finite", "decimal"])
def test_spreads(there, column, skips, least):
    options = pc.VarianceOptions(ddof=1, skip_nulls=skips, min_count=least)
    compared(there, [(column, "variance", options), (column, "stddev", options)])


@pytest.mark.parametrize("column", COLUMNS)
def test_one_value(there, column):
    compared(there, [(column, "one")])


@pytest.mark.parametrize("column", COLUMNS)
def test_lists(there, column):
    compared(there, [(column, "list"), (column, "distinct")])
    compared(there, [(column, "distinct")], ["k", "string"])


@pytest.mark.parametrize("mode", ["only_null", "all"])
def test_lists_of_distinct_nulls_are_refused(there, mode):
    wanted = [("int64", "distinct", pc.CountOptions(mode))]
    with pytest.raises(NotImplementedError, match="not hash_distinct of nulls"):
        there(TABLE).group_by("k").aggregate(wanted)
    if mode == "all":
        compared(there, wanted, table=TABLE.drop_null())


def test_several_at_once(there):
    """Each gets its own results, also of the values that another one has changed."""
    names = ["sum", "min_max", "mean", "max", "count", "list", "variance", "first", "distinct"]
    wanted = [(column, name) for column in ("int64", "finite") for name in names]
    compared(there, [*wanted, ([], "count_all"), ("double", "min"), ("double", "count")])
    small = ["sum", "max", "mean", "variance", "first", "distinct"]
    compared(there, [("int8", name) for name in small] + [("bool", "sum"), ("bool", "max")])
    compared(there, wanted, ["k", "k"])
    compared(there, wanted, ["bool", "k"])


@pytest.mark.parametrize("name", ["min", "max", "min_max"])
def test_extremes_with_negative_zeros_are_refused(there, name):
    with pytest.raises(NotImplementedError, match=r"not with -0\.0"):
        there(TABLE).group_by("k").aggregate([("zeros", name)])


def test_means_of_large_integers_are_refused(there):
    for values in ([2**53 + 1], [2**52] * 3):
        table = pa.table({"k": [0] * len(values), "v": values})
        with pytest.raises(NotImplementedError, match="so large integers"):
            there(table).group_by("k").aggregate([("v", "mean")])
    compared(there, [("v", "mean")], table=pa.table({"k": [0] * 3, "v": [2**51, 2**51 - 1, 1]}))


@pytest.mark.parametrize("name", ["first", "last", "first_last"])
def test_ends_need_an_order(there, name):
    for table in (TABLE, there(TABLE)):
        with pytest.raises(NotImplementedError, match="ordered aggregator"):
            table.group_by("k").aggregate([("int64", name)])


@pytest.mark.parametrize("name", ["min_max", "mean", "first_last", "any", "one", "list"])
def test_without_keys(there, name):
    column = "bool" if name == "any" else "int64"
    compared(there, [(column, name)], [])


OTHERS = {
    "large_string": COLUMNS["string"].cast(pa.large_string()),
    "binary": COLUMNS["string"].cast(pa.binary()),
    "zoned": COLUMNS["time"].cast(pa.timestamp("us", "Asia/Tokyo")),
    "clock": COLUMNS["time"].cast(pa.int64()).cast(pa.time64("us")),
    "date64": COLUMNS["date"].cast(pa.date64()),
    "dictionary": COLUMNS["string"].dictionary_encode(),
}


@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.parametrize("key", ["k", "string_view", "dictionary"])
def test_other_types(there, name, key):
    views = pa.array(KEYS).cast(pa.string_view())
    table = pa.table(
        {
            "k": KEYS,
            "string_view": views,
            "dictionary": pa.array(KEYS).dictionary_encode(),
            "v": OTHERS[name],
        }
    )
    named = ["first", "last", "first_last", "one", "list", "count_distinct"]
    named += [] if "binary" in name else ["min_max", "min"]
    for function in named + ["distinct"] * (name != "dictionary"):
        compared(there, [("v", function)], key, table)


def test_distinct_values_where_pyarrow_ends_the_process_without_rows(there):
    table = pa.table({"k": [1], "v": OTHERS["dictionary"][:1], "n": pa.nulls(1)})
    for column in "vn":
        with pytest.raises(NotImplementedError, match="not with columns of type"):
            there(table).group_by("k").aggregate([(column, "distinct")])
    compared(there, [("k", "distinct")], "k", table)
