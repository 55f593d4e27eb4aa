"""Joins, compared with pyarrow's on the host: filters, names of several columns, keys."""

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from pyarrow.compute import field as F

pytestmark = [pytest.mark.simulator, pytest.mark.usefixtures("libcudf")]
HOST = pa.default_cpu_memory_manager()
KINDS = [f"{side} {how}" for side in ("left", "right") for how in ("outer", "semi", "anti")]
KINDS += ["inner", "full outer"]
LEFT = pa.table({"k": [1, 1, 2, None], "n": [1, 5, None, 7], "a": ["x", "y", "z", "w"]})
RIGHT = pa.table({"k": [1, 1, 3, None], "m": [2, 6, 8, 9], "c": [True, False, None, True]})
FAILS = pc.scalar(1) / F("c").cast("int64") > 0


def rows(table):
    columns = [column.to_pylist() for column in table.copy_to(HOST).columns]
    return sorted(map(repr, zip(*columns, strict=True)))


def compared(there, left, right, *arguments, **options):
    try:
        expected = left.join(right, *arguments, **options)
    except pa.ArrowException as error:
        with pytest.raises(type(error)):
            there(left).join(there(right), *arguments, **options)
        return
    found = there(left).join(there(right), *arguments, **options)
    assert not found.is_cpu
    assert found.schema.equals(expected.schema, check_metadata=True)
    assert rows(found) == rows(expected)


@pytest.mark.parametrize("how", KINDS)
@pytest.mark.parametrize(
    "expression",
    [
        F("n") < F("m"),
        F("a") == "x",
        F("c"),
        (F("a") != "x") & F("c"),
        F("a").isin(["x", "w"]) | F("c").is_null(),
        F("a") == pa.scalar(None, pa.string()),
        pc.scalar(True),
        pc.scalar(False),
        pc.scalar(pa.scalar(None, pa.bool_())),
        FAILS,
        FAILS & False,  # which pyarrow folds in filters of tables only
        FAILS | True,
        F("k") == 1,  # on both sides
        F("n"),
        F("nothing") > 1,
    ],
    ids=str,
)
def test_filters(there, how, expression):
    for right in (RIGHT, RIGHT.slice(2)):  # of which no key is in the left table
        compared(there, LEFT, right, "k", join_type=how, filter_expression=expression)


@pytest.mark.parametrize("how", KINDS)
def test_filters_without_coalesced_keys(there, how):
    options = {"join_type": how, "filter_expression": F("n") < F("m"), "coalesce_keys": False}
    compared(there, LEFT, RIGHT, "k", **options)
    compared(there, LEFT.slice(0, 0), RIGHT, "k", **options)
    compared(there, LEFT, RIGHT.slice(0, 0), "k", **options)


TWICE = pa.table([[1, 2, 1], [3, 4, 5], [5, 6, 7]], ["k", "v", "v"])


@pytest.mark.parametrize("coalesces", [True, False])
@pytest.mark.parametrize("how", KINDS)
def test_names_of_several_columns(there, how, coalesces):
    options = {"join_type": how, "coalesce_keys": coalesces}
    other = RIGHT.rename_columns(["k", "n", "c"])
    compared(there, LEFT, other, "k", **options)
    compared(there, LEFT, other, "k", left_suffix="_l", right_suffix="_r", **options)
    compared(there, LEFT, other.rename_columns(["q", "n", "k"]), "k", "q", **options)
    compared(there, TWICE, LEFT, "k", **options)
    compared(there, LEFT, TWICE, "k", **options)


@pytest.mark.parametrize("how", KINDS)
@pytest.mark.parametrize("keys", [(["k", "k"], ["k", "m"]), (["k", "k"], ["k", "k"]), ([0], [0])])
def test_keys_that_are_there_twice_or_numbers(there, how, keys):
    compared(there, LEFT, RIGHT, *keys, join_type=how, right_suffix="_r")


#: Types that are not of the first tables, with their values.
WORDS = pa.array(["x", "y", None, "w"])
OTHERS = {
    "large_string": WORDS.cast(pa.large_string()),
    "binary": WORDS.cast(pa.binary()),
    "dictionary": WORDS.dictionary_encode(),
    "zoned": pa.array([1, 5, None, 7]).cast(pa.timestamp("us", "Asia/Tokyo")),
    "clock": pa.array([1, 5, None, 7], pa.int32()).cast(pa.time32("s")),
    "date64": pa.array([0, 86400000, None, 0]).cast(pa.date64()),
}


@pytest.mark.parametrize("how", KINDS)
@pytest.mark.parametrize("name", OTHERS)
def test_filters_and_columns_of_other_types(there, how, name):
    left = LEFT.append_column("o", OTHERS[name])
    first = OTHERS[name][0]
    first = first.value if name == "dictionary" else first
    for expression in (F("o") == first, F("o").is_null(), F("o").isin([first, None])):
        both = left.drop_columns("k").append_column("k", left["o"])
        compared(there, left, RIGHT, "k", join_type=how, filter_expression=expression & F("c"))
        options = {"join_type": how, "coalesce_keys": name != "dictionary"}
        compared(there, both, left, "k", "o", **options, left_suffix="_l", right_suffix="_r")
