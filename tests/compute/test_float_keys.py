"""Keys that are floating-point numbers: pyarrow tells them apart by their bits."""

import pyarrow as pa
import pyarrow.compute as pc
import pytest

pytestmark = [pytest.mark.simulator, pytest.mark.usefixtures("libcudf")]
HOST = pa.default_cpu_memory_manager()
#: 0.0, -0.0, three NaN and 1.0, by their bits.
WORDS = {
    pa.float64(): [0, -(2**63), 0x7FF8 << 48, (0x7FF8 << 48) + 1, -(8 << 48), 1023 << 52],
    pa.float32(): [0, -(2**31), 0x7FC0 << 16, (0x7FC0 << 16) + 1, -(64 << 16), 127 << 23],
}
BITS = {pa.float64(): pa.int64(), pa.float32(): pa.int32()}


def keys(kind, places):
    words = [None if place is None else WORDS[kind][place] for place in places]
    return pa.array(words, BITS[kind]).view(kind)


def bits(array):
    """The numbers as integers, which `equals` tells apart."""
    found = array.copy_to(HOST)
    return found.view(BITS[found.type]) if found.type in BITS else found


@pytest.fixture(params=list(BITS), ids=str)
def given(request):
    return keys(request.param, [0, 1, 2, 3, 4, 5, None, 1, 3, 0, None, 5])


def test_distinct_values(there, given):
    assert bits(there(given).unique()).equals(bits(given.unique()))
    assert pc.count_distinct(there(given)).as_py() == pc.count_distinct(given).as_py() == 6


def test_counts_of_values(there, given):
    found, expected = there(given).value_counts(), given.value_counts()
    for name in ("values", "counts"):
        assert bits(found.field(name)).equals(bits(expected.field(name)))


def test_dictionaries(there, given):
    found, expected = there(given).dictionary_encode(), given.dictionary_encode()
    assert found.type == expected.type
    assert bits(found.indices).equals(expected.indices)
    assert bits(found.dictionary).equals(bits(expected.dictionary))


@pytest.mark.parametrize("places", [[0], [1, 2], [4, 5, None]])
def test_places_in_a_set(there, given, places):
    options = pc.SetLookupOptions(keys(given.type, places))
    for name in ("index_in", "is_in"):
        expected = pc.call_function(name, [given], options)
        found = pc.call_function(name, [there(given)], options)
        assert found.copy_to(HOST).equals(expected)


def test_groups(there, given):
    table = pa.table({"k": given, "v": given, "n": pa.array(range(len(given)))})
    wanted = [("n", "sum"), ("v", "count_distinct")]
    expected, found = (it.group_by("k").aggregate(wanted) for it in (table, there(table)))
    # The groups come in no order.
    rows, others = (
        {
            tuple(row)
            for row in zip(*(bits(it.combine_chunks()).to_pylist() for it in each), strict=True)
        }
        for each in (found.columns, expected.columns)
    )
    assert rows == others
    assert len(rows) == len(found) == 7


def test_distinct_values_in_groups(there, given):
    table = pa.table({"k": pa.array([1] * len(given)), "v": given})
    for each in (table, there(table)):
        found = each.group_by("k").aggregate([("v", "count_distinct")])
        assert found.copy_to(HOST).to_pydict() == {"k": [1], "v_count_distinct": [6]}


def test_joins(there, given):
    table = pa.table({"k": given, "n": pa.array(range(len(given)))})
    right = pa.table({"k": keys(given.type, [1, 3, None])})
    expected = table.join(right, "k", join_type="left semi")["n"]
    found = there(table).join(there(right), "k", join_type="left semi")["n"]
    assert sorted(found.copy_to(HOST).to_pylist()) == sorted(expected.to_pylist()) == [1, 3, 7, 8]
