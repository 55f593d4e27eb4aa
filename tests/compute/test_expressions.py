"""Filters by expressions: what pyarrow folds, the types of literals, the number of passes."""

import datetime
import math
from decimal import Decimal
from functools import reduce

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from pyarrow.compute import field as F

from .conftest import of

pytestmark = [pytest.mark.simulator, pytest.mark.usefixtures("libcudf")]
HOST = pa.default_cpu_memory_manager()
MAJOR = int(pa.__version__.split(".")[0])
NULL, NO_NUMBER = (pc.scalar(pa.scalar(None, kind)) for kind in (pa.bool_(), pa.float64()))
TRUE, FALSE = pc.scalar(True), pc.scalar(False)
ROWS = pa.table(
    {
        "row": range(4),
        "i": [2**24 + 1, None, 1, -5],
        "z": [0, 0, 1, 1],
        "n": pa.array([1, None, 44, -5], pa.int8()),
        "u": pa.array([2**63, 1, None, 7], pa.uint64()),
        "f": [1.5, math.nan, None, -0.0],
        "g": pa.array([1.5, math.nan, None, 0.1], pa.float32()),
        "b": [True, None, False, True],
        "s": ["a", None, "c", ""],
        "d": pa.array(
            [Decimal("1.00"), None, Decimal("2.50"), Decimal("-7.00")], pa.decimal128(15, 2)
        ),
        "e": pa.array([Decimal("1.000"), Decimal("2"), None, Decimal("-7")], pa.decimal128(20, 3)),
        "t": pa.array([0, None, 10**9, 5], pa.timestamp("ns")),
        "m": pa.array([0, None, 1000, 5], pa.timestamp("ms")),
        "w": pa.array([0, None, 10**9, 5], pa.timestamp("us", "UTC")),
        "h": pa.array([0, None, 10**9, 5], pa.duration("us")),
        "y": pa.array([0, None, 1, 2], pa.date32()),
    }
)
#: Raises an error wherever it is computed.
FAILS = F("i") / F("z") > 1
MIDNIGHT = datetime.datetime(1970, 1, 1)


def call(name, *arguments):
    return pc.Expression._call(name, list(arguments))


def compared(there, expression, table=ROWS):
    """The same rows or the same class of error."""
    try:
        expected = table.filter(expression)
    except pa.ArrowException as error:
        with pytest.raises(type(error)):
            there(table).filter(expression)
        return
    found = there(table).filter(expression).copy_to(HOST)
    assert found.schema == expected.schema
    assert found["row"].to_pylist() == expected["row"].to_pylist()


@pytest.mark.parametrize("literal", [TRUE, FALSE, NULL], ids=["true", "false", "null"])
@pytest.mark.parametrize("is_first", [True, False])
@pytest.mark.parametrize("name", ["and_kleene", "or_kleene", "and_not", "and_not_kleene", "xor"])
def test_literals_that_decide_are_folded(there, name, literal, is_first):
    operands = [literal, FAILS] if is_first else [FAILS, literal]
    compared(there, call(name, *operands))
    compared(there, ~call(name, *operands))


@pytest.mark.parametrize("is_first", [True, False])
@pytest.mark.parametrize("name", ["equal", "less", "add", "divide", "power", "bit_wise_and"])
def test_calls_with_a_null_literal_are_null(there, name, is_first):
    operands = [pc.scalar(pa.scalar(None, pa.int64())), F("i") / F("z")]
    found = call(name, *(operands if is_first else operands[::-1]))
    for expression in (found.is_null(), F("b") | found.is_valid()):
        compared(there, expression)


@pytest.mark.parametrize(
    "expression",
    [
        TRUE,
        FALSE,
        NULL,
        F("b") & NULL,
        F("b") | NULL,
        F("b") & TRUE,
        (FAILS & FALSE) | F("b"),
        FAILS & (pc.scalar(1) > 2),
        FAILS & ~TRUE,
        FAILS & (F("z") < pa.scalar(None, pa.int64())),
        F("i") == pa.scalar(None),
        F("s") == pa.scalar(None),
        (F("i") > NO_NUMBER) | F("b"),
        pc.is_null(F("i") + NO_NUMBER),
        pc.coalesce(F("b"), FAILS),
        pc.if_else(TRUE, F("b"), FAILS),
        pc.true_unless_null(FAILS),
        pc.scalar(1) / 0 > 1,
    ],
    ids=str,
)
def test_what_pyarrow_folds(there, expression):
    compared(there, expression)


@pytest.mark.parametrize(
    "expression",
    [
        F("i") != math.nan,  # in single precision, which does not have the number
        F("n") != math.nan,
        F("n") < math.inf,
        F("f") != math.nan,
        F("f") == pa.scalar(math.nan, pa.float32()),
        F("g") != math.nan,
        F("g") == 0.1,
        F("g") < 0.5,
        F("f") < 0.1,
        pc.coalesce(F("i"), NO_NUMBER) > 1,
        pc.coalesce(F("n"), NO_NUMBER) > 1,
        pc.if_else(F("b"), F("i"), NO_NUMBER) > 1,
        F("u") == 0,
        F("u") == pa.scalar(7, pa.uint64()),
        F("n") < 300,
        F("z") < 0.5,
        F("z") >= F("f"),
        F("n") >= F("z"),
        F("d") >= Decimal("1.00"),
        F("d") < pa.scalar(Decimal("2.50"), pa.decimal128(15, 2)),
        F("d") > 0.5,
        F("t") > MIDNIGHT,
        F("t") > datetime.datetime(2300, 1, 1),
        F("m") > MIDNIGHT,
        F("m") > MIDNIGHT.replace(microsecond=5),
        F("m") >= datetime.datetime(1960, 1, 1),
        F("m") < F("t"),
        F("w") > pa.scalar(-1, pa.timestamp("ns", "Europe/Paris")),
        F("h") > pa.scalar(1, pa.duration("ns")),
        F("h") >= datetime.timedelta(seconds=1),
        F("h") >= pa.scalar(1000, pa.duration("s")),
        F("y") > datetime.date(1970, 1, 1),
        F("y") > MIDNIGHT,
        F("y") <= datetime.datetime(1970, 1, 2),
        F("y") == pa.scalar(-86400 * 10**9, pa.timestamp("ns")),
        F("t") > datetime.date(1970, 1, 1),
        F("m") >= datetime.date(1969, 12, 31),
        F("t") < datetime.date(2500, 1, 1),
        F("w") > datetime.date(1970, 1, 1),
        F("y") < pa.scalar(0, pa.timestamp("s", "UTC")),
        # Without a kernel for the very types, literals get smaller ones.
        pc.add(pc.if_else(F("b"), 100, 100), 100) < 0,
        pc.add(pc.coalesce(F("n"), 100), 100) < 0,
        pc.add(pc.case_when(pc.make_struct(F("b"), field_names=["a"]), 100, 100), 100) < 0,
    ],
    ids=str,
)
def test_the_types_of_literals(there, expression):
    compared(there, expression)


@pytest.mark.parametrize(
    "expression",
    [
        F("y") > MIDNIGHT.replace(hour=1),
        F("t") - MIDNIGHT > pa.scalar(0, pa.duration("ns")),
    ],
    ids=str,
)
def test_times_of_several_units_are_refused(there, expression):
    ROWS.filter(expression)
    with pytest.raises(NotImplementedError, match=r"several (types|units)"):
        there(ROWS).filter(expression)


@pytest.mark.parametrize("other", [F("m"), pa.scalar(0, pa.timestamp("us"))], ids=str)
def test_times_with_and_without_a_zone(there, other):
    """pyarrow raises an error once there is a row."""
    for rows in (ROWS, ROWS.slice(0, 0)):
        outcomes = []
        for table in (rows, there(rows)):
            try:
                outcomes.append(len(table.filter(F("w") > other)))
            except pa.ArrowException as error:
                outcomes.append(str(error))
        assert outcomes[0] == outcomes[1]


@pytest.mark.parametrize("number", [-616, -551616, -1000, 1000, 384])
@pytest.mark.parametrize("unit", ["s", "ms", "us"])
def test_times_that_pyarrow_raises_an_error_for(there, number, unit):
    """pyarrow casts columns to the unit of a time before 1970, or that time to a unit that lacks
    it."""
    table = pa.table({"far": pa.array([2**61, None], pa.timestamp(unit))})
    chosen = F("far") > pa.scalar(number, pa.timestamp("us"))
    try:
        expected = table.filter(chosen)
    except pa.ArrowInvalid:
        with pytest.raises(NotImplementedError, match=r"so far away|lose digits"):
            there(table).filter(chosen)
    else:
        assert there(table).filter(chosen).copy_to(HOST).equals(expected)


SETS = {
    "n": [[1, 300], [-300], [None, 1], pa.array([1, None], pa.int8()), []],
    "i": [[1, None], pa.array([1], pa.int8()), [*range(17)]],
    "u": [[7], pa.array([7], pa.uint32())],
    "f": [[1.5], [0.0], [-0.0, 1.5], [math.nan], [None, 2.5], pa.array([1.5], pa.float32())],
    "g": [[0.1, 1.5], pa.array([1, 2])],
    "s": [["a", "c"], ["a", None], ["", "x"], pa.array([], pa.string()), ["a"] * 17],
    "d": [[Decimal("1.0"), Decimal("-7")], [Decimal("2.50"), None], pa.array([2.5])],
    "t": [pa.array([0, 1], pa.timestamp("us")), pa.array([0, 5], pa.timestamp("ns"))],
    "y": [[datetime.date(1970, 1, 2), None], pa.array(["1970-01-02"]), pa.nulls(1)],
    "z": [pa.array([1.0]), pa.array([True])],
    "b": [[True], [None, False], pa.array([0])],
}


@pytest.mark.parametrize(
    ("name", "values"), [(name, values) for name, sets in SETS.items() for values in sets]
)
def test_sets(there, libcudf, name, values):
    wanted = values if isinstance(values, pa.Array) else pa.array(values, SET_TYPES.get(name))
    expression = F(name).isin(wanted)
    for each in (expression, ~expression, expression & F("b")):
        compared(there, each)
    libcudf.clear()
    there(ROWS).filter(expression)
    numbers = [it for it in wanted.to_pylist() if isinstance(it, float)]
    is_by_bits = any(not it or math.isnan(it) for it in numbers)
    has_any = 0 < len(wanted.drop_null()) <= 16 and wanted.to_pylist() != [-300]
    is_one_pass = has_any and not is_by_bits
    assert libcudf.count("compute_column") == is_one_pass
    found = pc.index_in(there(ROWS)[name], value_set=wanted).copy_to(HOST)
    assert found.equals(pc.index_in(ROWS[name], value_set=wanted))


SET_TYPES = {"n": pa.int64(), "b": pa.bool_(), "y": pa.date32()}


@pytest.mark.parametrize(
    ("name", "values"),
    [("s", [1]), ("n", ["a"]), ("t", [1.5]), ("w", pa.array([1], pa.timestamp("us")))],
)
def test_sets_of_other_kinds_are_pyarrows_error(there, name, values):
    compared(there, F(name).isin(values))
    for table in (ROWS, there(ROWS)):
        with pytest.raises(pa.lib.ArrowTypeError):
            pc.is_in(table[name], value_set=pa.array(values))


@pytest.mark.parametrize("values", [[1.5], [2**63]])
def test_sets_that_lose_values_are_refused(there, values):
    kind = pa.uint64() if values == [2**63] else pa.float64()
    with pytest.raises(NotImplementedError, match="set of another type"):
        there(ROWS).filter(F("n").isin(pa.array(values, kind)))


IS_OF = [
    (F("s") == word)
    & F("n").isin([1, 2, 44])
    & (F("f") >= least)
    & (F("f") <= least + 10)
    & (F("d") > Decimal("0.00"))
    for word, least in (("a", 1), ("b", 10), ("c", 20))
]


@pytest.mark.parametrize(
    "expression",
    [
        reduce(lambda one, other: one | other, IS_OF),
        (F("d") >= Decimal("1.00")) & (F("d") <= F("e")) & (F("e") > Decimal("-8")),
        (F("s") != "a") | F("s").is_null() | ~(F("s") < "c"),
        F("f").is_null(nan_is_null=True) | F("i").is_valid() & ~F("f").is_nan(),
        call("and", F("b"), F("i") > 0),
        call("xor", F("b"), F("z") == 1) | call("or", F("b"), F("n") == 1),
        (F("z") < 0.5) & (F("g") < F("f")),
        (F("t") > MIDNIGHT) | (F("h") > pa.scalar(1000, pa.duration("s"))),
        (F("i") + 1 > 2) & (F("s") == "a"),
        reduce(lambda one, other: one & other, [F("i") != number for number in range(60)]),
    ],
    ids=str,
)
def test_a_filter_is_one_pass(there, libcudf, expression):
    if MAJOR < 25 and "0.00" in str(expression):
        pytest.skip("pyarrow 21 compares decimals of several scales by their digits")
    compared(there, expression)
    assert libcudf.count("compute_column") == 1
    libcudf.clear()
    there(ROWS).filter(expression)
    operators = {"EQUAL", "LESS", "GREATER", "LOGICAL_AND", "LOGICAL_OR", "NULL_LOGICAL_AND"}
    assert not operators.intersection(libcudf)


def test_a_thread_keeps_few_results(there, libcudf):
    deep = reduce(lambda one, other: (F("i") > other) & one, range(40), F("b"))
    compared(there, deep)
    assert libcudf.count("compute_column") > 1


@pytest.mark.parametrize("digits", ["1e-30", "12345678901234567890123456789012345678"])
def test_decimals_of_too_many_digits(there, digits):
    """pyarrow raises an error, but for older ones, whose comparisons lose digits."""
    with pytest.raises((pa.ArrowInvalid, NotImplementedError), match=r"out of range|38 digits"):
        there(ROWS).filter(F("d") >= Decimal(digits))


STRUCTS = pa.table(
    {
        "row": range(4),
        "s": [{"x": 1, "y": {"z": 1}}, None, {"x": 3, "y": None}, {"x": None, "y": {"z": 4}}],
        "x": [1, 2, 3, 4],
    }
)


@pytest.mark.parametrize(
    "expression",
    [
        F("s", "x") > 1,
        F("s", "x").is_null() | (F("x") < 2),
        (F("s", "y", "z") == 1) | (F("s", "y", "z") > F("x") - 1),
        F("s", "y", "z").isin([4]),
        F("s", "q") > 1,
        F("x", "x") > 1,
        F("q", "x") > 1,
    ],
    ids=str,
)
def test_fields_within_columns(there, expression):
    compared(there, expression, STRUCTS)


def test_fields_by_numbers_are_refused(there):
    table = there(STRUCTS)
    for call in (
        lambda: table.filter(F(2) > 1),
        lambda: table.filter(F("s", 0) > 1),
        lambda: table.join(table.select(["row"]), "row", filter_expression=F(2) > 1),
    ):
        with pytest.raises(NotImplementedError, match=r"CPU device.*name the fields"):
            call()


def test_literals_stay_on_the_device(there, libcudf):
    columns = of("columns")
    kinds = [pa.timestamp("ns"), pa.duration("s"), pa.decimal128(9, 2)]
    values = [pa.scalar("word"), *(pa.scalar(7, pa.int64()).cast(kind) for kind in kinds[:2])]
    values.append(pa.scalar(Decimal("7.00"), kinds[2]))
    for value in values:
        assert columns.scalar_of(value) is columns.scalar_of(pa.scalar(value.as_py(), value.type))
    other = pa.scalar(Decimal("7.01"), kinds[2])
    assert columns.scalar_of(other) is not columns.scalar_of(values[-1])
    long = pa.scalar("x" * 2000)
    assert columns.scalar_of(long) is not columns.scalar_of(long)
