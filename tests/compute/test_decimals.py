"""Decimals, compared with pyarrow's results on the host."""

import math
import re
from decimal import Context, Decimal, localcontext

import pyarrow as pa
import pyarrow.compute as pc
import pytest

pytestmark = [pytest.mark.simulator, pytest.mark.usefixtures("libcudf")]
HOST = pa.default_cpu_memory_manager()
D = pa.decimal128


def decimals(*texts, kind=None):
    return pa.array([None if it is None else Decimal(it) for it in texts], kind or D(9, 2))


MONEY = decimals("1.25", "-3.00", None, "0.57", "0.00")
COUNTS = pa.array([2, -3, 4, None, 0], pa.int32())
HALVES = pa.array([0.5, -3.0, 0.57, None, 0.0])
LONG = decimals("1.2500", "3.0000", None, "-0.5700", "0.0001", kind=D(15, 4))


def on_host(found):
    return found if isinstance(found, pa.Scalar) else found.copy_to(HOST)


def check(call, *given, there):
    """The device's answer has the value and the type of the host's."""
    expected = call(*given)
    found = on_host(call(*map(there, given)))
    assert found.type == expected.type
    assert found.equals(expected)


@pytest.mark.parametrize("other", [COUNTS, HALVES, LONG, HALVES.cast(pa.float32())])
@pytest.mark.parametrize("name", ["add", "subtract", "multiply", "equal", "less", "greater_equal"])
def test_decimals_beside_other_numbers(there, name, other):
    check(getattr(pc, name), MONEY, other, there=there)
    check(getattr(pc, name), other, MONEY, there=there)


@pytest.mark.parametrize("other", [LONG, COUNTS, HALVES])
def test_quotients_of_decimals(there, other):
    without_zeros = pc.if_else(pc.equal(other, 0), None, other)
    check(pc.divide, MONEY, without_zeros, there=there)
    check(pc.divide, without_zeros, MONEY.take(pa.array([0, 1, 2, 3, 3])), there=there)


def test_decimals_by_zero_are_pyarrows_error_except_nulls(there):
    zeros = decimals("0.00", "0.00", None)
    check(pc.divide, decimals(None, None, "1.00"), zeros, there=there)
    for place in (lambda it: it, there):
        with pytest.raises(pa.ArrowInvalid, match="Divide by zero"):
            pc.divide(place(decimals(None, "1.00", None)), place(zeros))


@pytest.mark.parametrize("name", ["abs", "abs_checked", "negate", "negate_checked"])
def test_signs_of_decimals(there, name):
    check(getattr(pc, name), MONEY, there=there)


@pytest.mark.parametrize("literal", [Decimal("0.57"), 0.57, 2])
def test_a_literal_beside_decimals(there, literal):
    check(lambda it: pc.subtract(literal, it), MONEY, there=there)
    check(lambda it: pc.greater(it, literal), MONEY, there=there)


@pytest.mark.parametrize(
    ("given", "wanted", "safe"),
    [
        (MONEY, pa.float64(), True),
        (MONEY, pa.float32(), True),
        (decimals("1e3", "-12e5", kind=D(9, -3)), pa.float64(), True),
        (decimals("3.00", "-128.00", None), pa.int8(), True),
        (decimals("3.75", "-0.99", None), pa.int64(), False),
        (MONEY, D(12, 4), True),
        (decimals("1.20", "-3.50"), D(9, 1), True),
        (MONEY, D(9, 1), False),
        (decimals("999.99"), D(5, 2), True),
        (COUNTS, D(12, 2), True),
        (COUNTS.cast(pa.uint64(), safe=False), D(38, 0), True),
    ],
)
def test_casts_of_decimals(there, given, wanted, safe):
    check(lambda it: it.cast(wanted, safe=safe), given, there=there)


@pytest.mark.parametrize(
    ("given", "wanted", "text"),
    [
        (decimals("1.25"), pa.int64(), "would cause data loss"),
        (decimals("300.00"), pa.int8(), "Integer value out of bounds"),
        (decimals("1.25"), D(9, 1), "would cause data loss"),
        (decimals("1234.25"), D(5, 2), "does not fit in precision 5"),
        (COUNTS, D(9, 2), "should be at least 12"),
        (COUNTS, D(20, -2), "Scale must be non-negative"),
        (COUNTS.cast(pa.int64()), D(20, 2), "should be at least 21"),
    ],
)
def test_digits_that_a_cast_would_lose_are_pyarrows_error(there, given, wanted, text):
    for array in (given, there(given)):
        with pytest.raises(pa.ArrowInvalid, match=text):
            array.cast(wanted)


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        (decimals(str(2**53 + 1), kind=D(38, 0)), pa.float64()),
        (decimals("167772.17"), pa.float32()),
        (decimals("1.25", kind=D(38, 2)), D(38, 4)),
        (decimals("12e3", kind=D(38, -3)), pa.int64()),
        (decimals("300.00"), pa.int8()),
        (decimals("1234.25"), D(5, 2)),
    ],
)
def test_decimals_that_libcudf_would_cast_otherwise_are_refused(there, given, wanted):
    with pytest.raises(NotImplementedError, match="libcudf"):
        there(given).cast(wanted, safe=False)


@pytest.mark.parametrize("digits", [2, 28])
def test_the_programs_decimal_context_changes_nothing(there, digits):
    large = decimals(str(10**30 - 1), str(10**30 - 3), kind=D(38, 0))
    with localcontext(Context(prec=digits)):
        check(pc.mean, large, there=there)
        check(pc.mean, decimals("123456.78", "123456.80"), there=there)
        check(lambda it: it.cast(D(30, 0)), large, there=there)
        check(lambda it: it.cast(pa.int8()), decimals("127.00", "-128.00"), there=there)


def test_slices_of_decimals(there):
    for part in (MONEY.slice(1), MONEY.slice(2, 2)):
        check(lambda it: it.cast(pa.float64()), part, there=there)
        check(pc.mean, part, there=there)


def test_a_cast_of_decimals_has_memory_of_its_own(there):
    given = there(MONEY)
    assert given.cast(D(12, 2)).buffers()[1].address != given.buffers()[1].address


@pytest.mark.parametrize("skips", [True, False])
@pytest.mark.parametrize("name", ["sum", "mean", "min", "max"])
@pytest.mark.parametrize(
    "given",
    [
        MONEY,
        decimals("0.01", "0.02"),
        decimals("-0.01", "-0.02"),
        decimals("-0.01", "0.00", "0.00"),
        decimals(None, None),
    ],
)
def test_aggregates_of_decimals(there, name, given, skips):
    options = pc.ScalarAggregateOptions(skip_nulls=skips)
    check(lambda it: pc.call_function(name, [it], options), given, there=there)


ROWS = pa.table(
    {
        "k": ["a", "b", "a", "b", "c"],
        "d": decimals("0.01", "-0.01", "0.02", "-0.02", None),
        "w": decimals("1.25", None, "3.00", "0.57", None),
    }
)


@pytest.mark.parametrize("least", [1, 2])
@pytest.mark.parametrize("name", ["sum", "mean"])
def test_sums_and_means_of_decimals_in_groups(there, name, least):
    options = pc.ScalarAggregateOptions(min_count=least)
    wanted = [("d", name, options), ("w", name, options), ("w", "sum")]
    check_groups(there, wanted)


def test_extremes_of_decimals_in_groups(there):
    check_groups(there, [("d", "min"), ("d", "max"), ("w", "mean"), ("w", "sum"), ("w", "count")])


def check_groups(there, wanted):
    expected = ROWS.group_by("k", use_threads=False).aggregate(wanted)
    found = there(ROWS).group_by("k", use_threads=False).aggregate(wanted).copy_to(HOST)
    assert found.schema == expected.schema
    assert found.equals(expected)


def test_a_group_without_decimals_has_no_mean(there):
    wanted = [("d", "mean", pc.ScalarAggregateOptions(min_count=0))]
    for table in (ROWS, there(ROWS)):
        with pytest.raises(pa.ArrowInvalid, match="Division by 0 in Decimal"):
            table.group_by("k").aggregate(wanted)


@pytest.mark.parametrize(
    "expression",
    [
        pc.field("w") > 1.0,
        pc.field("w") > pa.scalar(Decimal("0.60")),  # pyarrow 21 is wrong with two scales
        (pc.field("w") - 1.0) * pc.field("w") > 0.0,
        pc.field("w").cast("float64") < 2.0,
        pc.field("w") > pc.field("d"),
    ],
)
def test_expressions_of_decimals(there, expression):
    assert there(ROWS).filter(expression).copy_to(HOST).equals(ROWS.filter(expression))


def test_an_integer_literal_beside_decimals_is_refused_where_pyarrow_raises(there):
    with pytest.raises(pa.ArrowInvalid, match="at least 21"):
        ROWS.filter(pc.field("w") > 1)
    with pytest.raises(NotImplementedError, match="use a Decimal or a float"):
        there(ROWS).filter(pc.field("w") > 1)


def halves(scale):
    """Numbers of which many lie in the middle of two decimals."""
    ties = [(it + 0.5) * 10.0**-scale for it in range(-9, 9)]
    return [*ties, 0.0, -0.0, 5e-324, 2.0**-130, 0.1, -2.675, 1e-7, 33.3, None]


@pytest.mark.parametrize("kind", [pa.float32(), pa.float64()])
@pytest.mark.parametrize(("precision", "scale"), [(38, 0), (7, 2), (25, 5), (38, 21)])
def test_decimals_of_floating_point_numbers(there, precision, scale, kind):
    large = [2.0**53 + 2, -(2.0**52), 2.0**60 + 2.0**9, 1e16] if precision - scale > 19 else []
    numbers = pa.array([*halves(scale), *large], pa.float64()).cast(kind).slice(1)
    wanted = pa.decimal128(precision, scale)
    assert on_host(there(numbers).cast(wanted)).equals(numbers.cast(wanted))


@pytest.mark.parametrize("number", [1e10, 999.995, -1000.0, math.nan, -math.inf])
def test_numbers_that_a_decimal_has_not(there, number):
    numbers, wanted = pa.array([1.0, None, number, 1e300]), pa.decimal128(5, 2)
    with pytest.raises(pa.ArrowInvalid) as expected:
        numbers.cast(wanted)
    with pytest.raises(pa.ArrowInvalid, match=re.escape(str(expected.value))):
        there(numbers).cast(wanted)
    with pytest.raises(NotImplementedError, match="not numbers that the type does not have"):
        there(numbers).cast(wanted, safe=False)


def test_decimals_with_too_many_digits_are_refused(there):
    with pytest.raises(NotImplementedError, match="not to such a scale"):
        there(pa.array([0.5])).cast(pa.decimal128(38, 22))
