"""`join_asof`, compared with pyarrow's on the host."""

import random
from contextlib import suppress

import pyarrow as pa
import pytest

from .conftest import back

pytestmark = [pytest.mark.simulator, pytest.mark.usefixtures("libcudf")]
ON = [pa.int8(), pa.uint16(), pa.int64(), pa.uint64(), pa.date32(), pa.date64(), pa.time32("s")]
ON += [pa.time64("us"), pa.timestamp("ns"), pa.timestamp("s", "Asia/Tokyo")]
SIGNED = [it for it in ON if not pa.types.is_time(it) and not pa.types.is_unsigned_integer(it)]
BY = [pa.int32(), pa.date32(), pa.timestamp("ms"), pa.string(), pa.large_string(), pa.binary()]
TOLERANCES = [0, 1, 2, 3, -1, -2, -3, 100, -100, 2**63 - 1, -(2**63)]


def of_numbers(numbers, kind):
    if kind in (pa.string(), pa.large_string(), pa.binary()):
        return pa.array(["abc"[it] for it in numbers]).cast(kind)
    if kind == pa.date64():
        return pa.array([it * 86_400_000 for it in numbers], pa.int64()).cast(kind)
    bits = pa.int32() if kind.bit_width == 32 else pa.int64()
    return pa.array(numbers, bits).cast(kind)


def side(chosen, on, by, *, least=0, is_mixed=False):
    rows = chosen.choice([0, 1, 5, 12])
    # pyarrow clears the sign.
    numbers = sorted(chosen.choices(range(least, 12), k=rows), key=lambda it: (it < 0, it))
    if is_mixed:
        chosen.shuffle(numbers)
    columns = {"on": of_numbers(numbers, on)}
    for place, kind in enumerate(by):
        columns[f"by{place}"] = of_numbers(chosen.choices(range(3), k=rows), kind)
    return columns, rows


def compared(there, left, right, *arguments, **options):
    # Of equal times, pyarrow at times takes the last one of a chunk.
    whole = [it.combine_chunks() for it in (left, right)]
    expected = whole[0].join_asof(whole[1], *arguments, **options)
    found = there(left).join_asof(there(right), *arguments, **options)
    assert not found.is_cpu
    assert found.schema.equals(expected.schema, check_metadata=True)
    assert back(found).equals(expected)
    return expected


@pytest.mark.parametrize("is_mixed", [False, True])
@pytest.mark.parametrize("least", [0, -6])
def test_random_tables(there, least, is_mixed):
    matches = 0
    for seed in range(150):
        chosen = random.Random(seed)
        kinds = [it for it in ON if least == 0 or it in SIGNED]
        on, by = chosen.choice(kinds), chosen.choices(BY, k=chosen.randrange(3))
        left, _ = side(chosen, on, by, least=least)
        right, rows = side(chosen, on, by, least=least, is_mixed=is_mixed)
        right["v"] = pa.array(range(rows), pa.int64())
        right["w"] = pa.array([chosen.choice(["x", None]) for _ in range(rows)], pa.string())
        both = [pa.table(left), pa.table(right)]
        if chosen.random() < 0.5:
            both = [pa.concat_tables([it.slice(0, 2), it.slice(2)]) for it in both]
        keys = [f"by{place}" for place in range(len(by))]
        # pyarrow raises an error for most numbers that are not in its order.
        with suppress(pa.ArrowInvalid):
            found = compared(there, *both, "on", keys, chosen.choice(TOLERANCES))
            matches += len(found) - found["v"].null_count
    assert matches > (20 if is_mixed else 100)


LEFT = pa.table(
    [[1, 5, 5, 8], [1.5, None, 2.5, 0.0], ["a", "b", "a", "b"]],
    schema=pa.schema(
        [
            pa.field("t", pa.int64(), nullable=False, metadata={"of": "t"}),
            ("x", pa.float64()),
            ("k", pa.string()),
        ],
        metadata={"of": "left"},
    ),
)
RIGHT = pa.table({"q": ["a", "a", "b"], "u": [2, 4, 9], "b": [True, None, False]})


@pytest.mark.parametrize("tolerance", [-4, 0, 1, 1.5])
def test_names_and_fields(there, tolerance):
    compared(there, LEFT, RIGHT, "t", "k", tolerance, right_on="u", right_by="q")
    compared(there, LEFT, RIGHT, "t", [], tolerance, right_on="u", right_by=[])
    # The right table may have nothing to add, or the name of a key.
    compared(there, LEFT, RIGHT.select(["u", "q"]), "t", "k", tolerance, "u", "q")
    compared(there, LEFT, RIGHT.rename_columns(["k", "t", "b"]), "t", "k", tolerance)


@pytest.mark.parametrize("is_left", [True, False])
def test_the_other_table_may_be_on_the_host(there, is_left):
    left, right = (there(LEFT), RIGHT) if is_left else (LEFT, there(RIGHT))
    expected = LEFT.join_asof(RIGHT, "t", "k", -4, "u", "q")
    assert back(left.join_asof(right, "t", "k", -4, "u", "q")).equals(expected)


def test_numbers_that_need_all_bits(there):
    most = 2**64 - 1
    left = pa.table({"on": pa.array([0, 2**63, most], pa.uint64())})
    right = pa.table({"on": pa.array([0, 5, most], pa.uint64()), "v": [1, 2, 3]})
    for tolerance in (-5, 5, 2**63 - 1, -(2**63)):
        for other in (right, right.slice(2), right.slice(0, 1)):
            compared(there, left, other, "on", [], tolerance)
    for table in (right, there(right)):
        other = table.take([2, 0])
        with pytest.raises(pa.ArrowInvalid, match="out-of-order"):
            table.select(["on"]).join_asof(other, "on", [], 2**63 - 1)


@pytest.mark.parametrize(
    "call",
    [
        lambda left, right: left.join_asof(right, "t", "k", 1),
        lambda left, right: left.join_asof(right, "t", ["k", "x"], 1, "u", ["q", "b"]),
        lambda left, right: left.join_asof(right, "t", "k", 1, "u", []),
        lambda left, right: left.join_asof(right, "x", "k", 1, "u", "q"),
        lambda left, right: left.join_asof(right, "t", "k", "1", "u", "q"),
        lambda left, right: left.join_asof(right, "t", "k", 2**63, "u", "q"),
        lambda left, right: left.join_asof(right.rename_columns(["x", "u", "q"]), "t", [], 1, "u"),
        lambda left, right: left.join_asof(1, "t", "k", 1),
        lambda left, right: left.take([1, 0]).join_asof(right, "t", "k", 1, "u", "q"),
        lambda left, right: left.join_asof(right.take([1, 0, 2]), "t", "k", 9, "u", "q"),
    ],
)
def test_bad_input_raises_pyarrows_errors(there, call):
    with pytest.raises((pa.ArrowException, TypeError, ValueError, OverflowError)) as expected:
        call(LEFT, RIGHT)
    with pytest.raises(expected.type) as found:
        call(there(LEFT), there(RIGHT))
    assert str(found.value) == str(expected.value)


def test_rows_after_all_others_may_be_in_any_order(there):
    left = pa.table({"on": [1, 1, 1], "by": [1, 2, 3]})
    right = pa.table({"on": [2, 5, 2], "by": [2, 3, 3], "v": [4, 5, 6]})
    found = compared(there, left, right, "on", "by", 1)
    assert found["v"].to_pylist() == [None, 4, None]
    with pytest.raises(pa.ArrowInvalid, match="out-of-order"):
        there(left).join_asof(there(right), "on", "by", 4)


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ({"on": [1], "by": pa.nulls(1, pa.string())}, "not with nulls in the keys"),
        ({"on": pa.nulls(1, pa.int32()), "by": [1]}, "not with nulls in the keys"),
        ({"on": [1], "by": [b"a\0"]}, "not with NUL at the end of strings"),
    ],
)
def test_keys_that_pyarrow_takes_for_others_are_refused(there, values, text):
    table = there(pa.table(values))
    with pytest.raises(NotImplementedError, match=text):
        table.join_asof(table, "on", "by", 1)
