"""Groups, encoded values and the k largest rows, compared with pyarrow's results on the host."""

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from .arguments import Maker, options
from .conftest import of

pytestmark = [pytest.mark.simulator, pytest.mark.usefixtures("libcudf")]
HOST = pa.default_cpu_memory_manager()
ROWS = pa.table({"k": ["b", None, "a", "b", None], "v": [1, 2, 3, 4, 5], "w": [5, 4, 3, 2, 1]})


@pytest.mark.parametrize("keys", ["k", ["k", "v"]])
@pytest.mark.parametrize(
    "aggregates",
    [[], [("v", "sum")], [("v", "min"), ("v", "max"), ("w", "sum")]],
)
def test_groups_without_threads_come_in_the_order_of_their_first_rows(there, keys, aggregates):
    expected = ROWS.group_by(keys, use_threads=False).aggregate(aggregates)
    found = there(ROWS).group_by(keys, use_threads=False).aggregate(aggregates)
    assert found.copy_to(HOST).equals(expected)
    in_no_order = there(ROWS).group_by(keys).aggregate(aggregates).copy_to(HOST)
    assert in_no_order.num_rows == expected.num_rows


@pytest.mark.parametrize("rows", [ROWS, ROWS.slice(0, 0)])
@pytest.mark.parametrize(
    "aggregates",
    [
        [],
        [("v", "sum"), ([], "count_all"), ("k", "count", pc.CountOptions("only_null"))],
        [("v", "min"), ("w", "max"), ("v", "sum", pc.ScalarAggregateOptions(min_count=9))],
    ],
)
def test_aggregates_without_keys_are_one_row(there, rows, aggregates):
    expected = rows.group_by([]).aggregate(aggregates)
    found = there(rows).group_by([]).aggregate(aggregates)
    assert not found.num_columns or not found.is_cpu
    assert found.copy_to(HOST).equals(expected)


@pytest.mark.parametrize("mode", ["only_valid", "only_null", "all"])
@pytest.mark.parametrize("name", ["count", "count_distinct"])
def test_counts_in_groups(there, name, mode):
    table = pa.table({"k": ["a", "b", "a", "b", "a"], "v": [1, None, None, None, 1]})
    wanted = [("v", name, pc.CountOptions(mode)), ("v", "sum")]
    expected = table.group_by("k", use_threads=False).aggregate(wanted)
    found = there(table).group_by("k", use_threads=False).aggregate(wanted)
    assert found.copy_to(HOST).equals(expected)


@pytest.mark.parametrize(
    "call",
    [
        lambda table: table.join(None, "k"),
        lambda table: table.join([1], "k"),
        lambda table: table.join(table.to_batches()[0], "k"),
        lambda table: table.join(table, None),
        lambda table: table.join(table, "k", join_type="some"),
        lambda table: table.group_by("k").aggregate(None),
        lambda table: table.sort_by(None),
    ],
)
def test_what_is_no_table_is_pyarrows_error(there, call):
    with pytest.raises((TypeError, ValueError)) as expected:
        call(ROWS)
    with pytest.raises(type(expected.value)) as found:
        call(there(ROWS))
    assert str(found.value) == str(expected.value)


@pytest.mark.parametrize("how", ["mask", "encode"])
@pytest.mark.parametrize(
    "values", [["a", None, "b", "a", None], ["b", "a"], [None, None], [None, "b"]]
)
def test_dictionaries_have_nulls_where_pyarrow_has_them(there, how, values):
    array = pa.array(values, pa.string())
    expected = array.dictionary_encode(how)
    found = there(array).dictionary_encode(how).copy_to(HOST)
    found.validate(full=True)
    assert found.type == expected.type
    assert found.indices.equals(expected.indices)
    assert found.dictionary.equals(expected.dictionary)


@pytest.mark.parametrize("make", [pa.table, pa.record_batch])
@pytest.mark.parametrize("count", [0, 2, 9])
def test_the_largest_rows_of_tables(there, make, count):
    rows = make({"x": pa.array([1.0, 3.0, 2.0, None]), "y": pa.array([1, 2, 3, 4])})
    keys = [("x", "descending")]
    expected = pc.select_k_unstable(rows, count, keys)
    assert pc.select_k_unstable(there(rows), count, keys).copy_to(HOST).equals(expected)


@pytest.mark.parametrize(("last", "count"), [(None, 3), (float("nan"), 2), (0.5, 4)])
def test_the_largest_rows_of_older_pyarrows(there, cudf, monkeypatch, last, count):
    """Before 25 they are without those whose first key is null or NaN."""
    selections = of("functions.selections")
    assert selections._KEEPS_NULLS is (int(pa.__version__.split(".")[0]) >= 25)
    monkeypatch.setattr(selections, "_KEEPS_NULLS", False)
    values = pa.array([1.0, 3.0, None if count == 2 else 2.0, last])
    expected = pc.sort_indices(values, sort_keys=[("", "descending")])[:count]
    for data in (values, pa.table({"x": values, "y": [None, 1, 2, 3]})):
        found = pc.select_k_unstable(there(data), 9, [("x", "descending")])
        assert found.copy_to(HOST).equals(expected)


@pytest.mark.parametrize("make", [pa.table, pa.record_batch, lambda it: pa.array(it["x"])])
def test_the_largest_rows_where_pyarrow_needs_one(cudf, make):
    """As pyarrow 25 does, which returns nothing for tables without cudf."""
    given = make({"x": [1.0, 2.0]})

    def select(function, arguments, options):
        if not len(arguments[0]):
            raise ValueError("Unable to wrap Datum in a Python object.")
        return function.call(arguments, options)

    calls = of("calls")
    largest = pc.SelectKOptions(1, [("x", "descending")])
    found = calls.prototype(select, "select_k_unstable", [calls.shape_of(given)], largest)
    assert found.equals(pa.array([], pa.uint64()))


#: Options that are enumerations, in pyarrow's words, and the number that a kernel takes for each.
ENUMERATIONS = [
    ("functions.selections", "_ENCODE", lambda: pc.DictionaryEncodeOptions("encode")),
    ("functions.selections", "_MASK", lambda: pc.DictionaryEncodeOptions("mask")),
    ("functions.aggregates", "_VALID", lambda: pc.CountOptions("only_valid")),
    ("functions.aggregates", "_NULL", lambda: pc.CountOptions("only_null")),
    (
        "functions.comparisons",
        "_MATCH",
        lambda: pc.SetLookupOptions(pa.array([1]), skip_nulls=False),
    ),
    ("functions.comparisons", "_SKIP", lambda: pc.SetLookupOptions(pa.array([1]), skip_nulls=True)),
    ("functions.strings", "_EMIT", lambda: pc.JoinOptions("emit_null")),
    ("functions.strings", "_SKIP", lambda: pc.JoinOptions("skip")),
    ("functions.selections", "_AT_START", lambda: pc.ArraySortOptions(null_placement="at_start")),
    ("functions.selections", "_DESCENDS", lambda: pc.ArraySortOptions("descending")),
]
#: Likewise in the order of the numbers.
IN_ORDER = [
    *(
        (
            "functions.aggregates",
            "_INTERPOLATIONS",
            word,
            lambda word: pc.QuantileOptions(interpolation=word),
        )
        for word in ("linear", "lower", "higher", "nearest", "midpoint")
    ),
    *(
        ("functions.selections", "_RANKS", word, lambda word: pc.RankOptions(tiebreaker=word))
        for word in ("min", "max", "first", "dense")
    ),
    *(
        (
            "functions.temporal_rounding",
            "_UNITS",
            word,
            lambda word: pc.RoundTemporalOptions(unit=word),
        )
        for word in (
            *("nanosecond", "microsecond", "millisecond", "second", "minute", "hour"),
            *("day", "week", "month", "quarter", "year"),
        )
    ),
    *(
        ("functions.rounding", "_MODES", word, lambda word: pc.RoundOptions(round_mode=word))
        for word in (
            *("down", "up", "towards_zero", "towards_infinity", "half_down", "half_up"),
            *("half_towards_zero", "half_towards_infinity", "half_to_even", "half_to_odd"),
        )
    ),
]


def number(chosen):
    """The one number among the options that is an enumeration's: what differs from the others."""
    found = of("calls").decoded(chosen.serialize().to_pybytes())
    names = (
        "null_encoding_behavior",
        "null_encoding",
        "mode",
        "null_matching_behavior",
        "null_handling",
        "interpolation",
        "tiebreaker",
        "unit",
        "round_mode",
    )
    return next(found[name] for name in names if name in found)


#: By function: how many values the enumeration among its options has.
COUNTS = {
    "dictionary_encode": 2,
    "count": 3,
    "quantile": 5,
    "round": 10,
    "rank": 4,
    "is_in": 2,
    "binary_join_element_wise": 3,
    "floor_temporal": 11,
}


@pytest.mark.parametrize("name", COUNTS)
def test_answers_are_compared_with_every_value_of_an_enumeration(cudf, name):
    given = [pa.array([1])]
    found = {number(options(name, Maker(seed), given)) for seed in range(200)}
    assert found == {*range(COUNTS[name])}


def test_the_numbers_of_enumerations_are_pyarrows(cudf):
    for module, name, make in ENUMERATIONS:
        chosen, wanted = make(), getattr(of(module), name)
        if isinstance(chosen, pc.ArraySortOptions):
            found = of("calls").decoded(chosen.serialize().to_pybytes())
            assert found["order" if name == "_DESCENDS" else "null_placement"] == wanted
        else:
            assert number(chosen) == wanted, name
    for module, name, word, make in IN_ORDER:
        assert getattr(of(module), name)[number(make(word))] == word.upper()
    for word, wanted in (("drop", 0), ("emit_null", 1)):
        chosen = pc.FilterOptions(null_selection_behavior=word)
        decoded = of("calls").decoded(chosen.serialize().to_pybytes())
        assert decoded["null_selection_behavior"] == wanted


def test_distinct_counts_leave_the_order_of_rows(there):
    table = pa.table({"k": [1, 1, 1, 2], "v": [3, 1, 2, 5]})
    asked = [("v", name) for name in ("count_distinct", "first", "last", "list", "first_last")]
    expected = table.group_by("k", use_threads=False).aggregate(asked)
    found = there(table).group_by("k", use_threads=False).aggregate(asked)
    assert found.copy_to(HOST).equals(expected)


def test_one_prefers_values_to_nulls_whatever_its_options(there):
    table = pa.table({"k": [1, 1, 2], "v": [None, 5, None]})
    wanted = [("v", "one", pc.ScalarAggregateOptions(skip_nulls=False))]
    expected = table.group_by("k", use_threads=False).aggregate(wanted)
    found = there(table).group_by("k", use_threads=False).aggregate(wanted)
    assert found.copy_to(HOST).equals(expected)


@pytest.mark.parametrize("name", ["last", "first_last"])
def test_the_last_value_without_keys_is_refused_where_pyarrow_skips_its_null(there, name):
    """Without keys, pyarrow's last value is never null where there is another."""
    columns = pa.table({"v": [1, None]}), there(pa.table({"v": [1, None]}))
    host, device = (it.group_by([], use_threads=False) for it in columns)
    counting = pc.ScalarAggregateOptions(skip_nulls=False)
    assert host.aggregate([("v", "last", counting)]).to_pylist() == [{"v_last": 1}]
    with pytest.raises(NotImplementedError, match="without keys that counts nulls"):
        device.aggregate([("v", name, counting)])
    assert device.aggregate([("v", name)]).copy_to(HOST).equals(host.aggregate([("v", name)]))
