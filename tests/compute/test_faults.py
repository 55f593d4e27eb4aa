"""Where pyarrow's own answer is wrong, a device gives the right one or none."""

import random
from decimal import Decimal
from math import nan
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from pyarrow import cuda

from . import answers, faults
from .conftest import back, of
from .faults import FAULTS, FILTERS_OF_NAN, LARGE, ROWS, numbers

pytestmark = [pytest.mark.simulator, pytest.mark.usefixtures("libcudf")]
PAGE = Path(__file__).parents[2] / "docs" / "compute.md"
F = pc.field


def plain(found):
    return found.as_py() if isinstance(found, pa.Scalar) else found.to_pylist()


@pytest.mark.parametrize("fault", FAULTS, ids=lambda it: it.text)
def test_the_right_answer_or_none(there, fault):
    assert plain(fault.call(lambda it: it)) == fault.wrong != fault.right
    if fault.right is not None:
        assert plain(fault.call(there)) == fault.right
        return
    with pytest.raises(NotImplementedError, match="libcudf"):
        fault.call(there)


@pytest.mark.independent  # the page is about all versions
def test_the_page_names_them():
    rows = [line.split(" | ") for line in PAGE.read_text().splitlines()]
    named = {row[0].removeprefix("| "): row[1].removesuffix(" |") for row in rows if len(row) == 2}
    expected = {it.text: "refused" if it.right is None else "right" for it in FAULTS}
    assert {text: named.get(text) for text in expected} == expected


def test_sums_that_fit_are_right_whatever_their_parts(there):
    for rows in ([LARGE, LARGE, -LARGE, None, -LARGE, 5], [-LARGE, -5], [LARGE] * 2 + [-LARGE] * 3):
        total = sum(it or 0 for it in rows)
        given = there(numbers(None, *rows)).slice(1)
        assert pc.sum(given) == pa.scalar(Decimal(total), pa.decimal128(38, 0))


@pytest.mark.parametrize("seed", range(20))
def test_sums_and_means_of_large_decimals(there, seed):
    chosen = random.Random(seed)
    most = 10 ** chosen.choice([3, 19, 20, 37, 38]) - 1
    rows = [chosen.randint(-most, most) for _ in range(chosen.choice([1, 2, 9]))]
    given, total = there(numbers(*rows)), sum(rows)
    share = (2 * abs(total) + len(rows)) // (2 * len(rows))
    assert pc.mean(given).as_py() == Decimal(share if total > 0 else -share)
    if abs(total) < 10**38:
        assert pc.sum(given).as_py() == Decimal(total)
    else:
        with pytest.raises(NotImplementedError, match="more than 38 digits"):
            pc.sum(given)


def test_sums_of_too_many_digits_are_refused_and_right_as_decimal256(there):
    rows = numbers(10**38 - 1, 1)  # the wrong digits, but no other number
    text = "more than 38 digits: on the host, cast to decimal256 before"
    table = there(pa.table({"k": [1, 1], "v": rows}))
    for keys in ("k", []):
        with pytest.raises(NotImplementedError, match=text):
            table.group_by(keys).aggregate([("v", "sum")])
    with pytest.raises(NotImplementedError, match=text):
        pc.sum(there(rows))
    wide = pa.table({"k": [1, 1], "v": rows.cast(pa.decimal256(76, 0))})
    assert pc.sum(wide["v"]).as_py() == 10**38
    assert wide.group_by("k").aggregate([("v", "sum")])["v_sum"].to_pylist() == [10**38]


@pytest.mark.parametrize("values", [[LARGE] * 3, [LARGE, LARGE, -LARGE], [1, 2, 3], [None] * 3])
def test_sums_of_parts(there, monkeypatch, values):
    monkeypatch.setattr(of("dispatch"), "MOST_ROWS", 2)
    monkeypatch.setattr(of("dispatch"), "_ROWS_AT_ONCE", 1)
    given, total = there(numbers(*values)), sum(it or 0 for it in values)
    if abs(total) >= 10**38:
        with pytest.raises(NotImplementedError, match="more than 38 digits"):
            pc.sum(given)
        return
    assert pc.sum(given, min_count=0).as_py() == total
    assert pc.sum(given).as_py() == (None if values[0] is None else total)


def test_views_without_nulls_and_dictionaries_with_distinct_values_are_answered(there):
    views, words = (
        pa.array(["b", "", "b"], pa.string_view()),
        pa.array(["b", "a", None, "b"]).dictionary_encode(),
    )
    for given in (views, words, pa.DictionaryArray.from_arrays([None, 0], ["a"])):
        assert back(there(given).unique()).equals(given.unique())
    table = pa.table({"k": words, "v": [1, 2, 4, 8]})
    found = there(table).group_by("k", use_threads=False).aggregate([("v", "sum")])
    assert back(found)["v_sum"].to_pylist() == [9, 2, 4]


def test_joins_and_other_functions_take_dictionaries_with_a_value_twice(there):
    table = pa.table({"k": faults.TWICE, "v": [1, 2, 4, 8]})
    right = pa.table({"k": pa.DictionaryArray.from_arrays([0], ["a"])})
    found = there(table).join(there(right), "k", join_type="left semi")
    assert sorted(back(found)["v"].to_pylist()) == [1, 2, 8]
    found = there(table).group_by("v").aggregate([("k", "count")])
    assert back(found)["k_count"].to_pylist() == [1] * 4


def test_slices_of_runs_are_decoded_from_their_first_row(there):
    assert back(pc.run_end_decode(there(faults.RUNS.slice(2)))).to_pylist() == [None, 2]


@pytest.fixture
def path(tmp_path):
    pq.write_table(ROWS, tmp_path / "x.parquet", row_group_size=2)
    return tmp_path / "x.parquet"


@pytest.fixture(params=["libcudf", "pyarrow"])
def reads(request, libcudf, monkeypatch):
    """Whether libcudf decodes small files, too."""
    monkeypatch.setattr(of("parquet.reader"), "LEAST", 0 if request.param == "libcudf" else 2**40)
    return request.param == "libcudf"


@pytest.mark.parametrize("columns", [None, ["n"], ["n", "x", "n"], []], ids=str)
@pytest.mark.parametrize("expression", FILTERS_OF_NAN)
def test_filters_of_files_keep_rows_with_nan(libcudf, reads, path, expression, columns):
    expected = ROWS.filter(expression)
    assert len(pq.read_table(path, filters=expression)) < len(expected)
    expected = expected if columns is None else expected.select(columns)
    context = cuda.Context(0)
    options = {"columns": columns, "filters": expression}
    whole = context.table_from_file(path, **options)
    with context.reader_from_file(path, batch_size=3, **options) as reader:
        read = reader.read_all()
    for found in (whole, read):
        assert found.schema == expected.schema
        assert len(found) == len(expected)
        assert repr(back(found).to_pydict()) == repr(expected.to_pydict())
    is_by_name = "FieldPath" not in str(expression)
    assert ("read_parquet" in libcudf) == (reads and is_by_name and columns != [])


@pytest.mark.parametrize(
    ("expression", "groups"),
    [
        (F("x") > 0.5, [0, 1]),
        (F("x") == 1.0, [0, 1]),
        ((F("x") <= -0.5) | (F("n") == 0), [0, 2]),
        ((F("x") != 1.0) & (F("n") >= 4), [2, 3]),
        ((F("x") > -9.0) & ((F("x") != 1.0) & (F("n") >= 4)), [2, 3]),
        (F("x").is_nan() & pc.starts_with(F("s"), "a"), [0, 1, 2, 3]),
        (F("x").is_nan() & F("n").isin([1, 2]), [0, 1]),
        (F("x") != 1.0, [0, 1, 2, 3]),
    ],
)
def test_row_groups_are_skipped_that_hold_no_row_of_a_filter(tmp_path, expression, groups):
    path = tmp_path / "x.parquet"
    table = ROWS.append_column("s", pa.array(["a"] * 8))
    pq.write_table(table, path, row_group_size=2)
    scan = of("parquet.reader").Reader(None, _scan(path, expression))
    assert [it.number for it in scan._groups] == groups


def _scan(path, expression):
    from pyarrow_cuda_compat._methods.datasets import Scan

    options = {"schema": None, "filesystem": None, "partitioning": "hive"}
    return Scan(str(path), None, expression, "parquet", options)


def test_the_comparisons_know_them(there, tmp_path):
    given, options = [numbers(LARGE, LARGE)], pc.ScalarAggregateOptions()
    found = answers.outcome("mean", [there(given[0])], options)
    wrong = answers.outcome("mean", given, options)
    expected = faults.right("mean", given, options, wrong)
    assert answers.difference("mean", given, wrong, found, is_ordered=True)
    assert answers.difference("mean", given, expected, found, is_ordered=True) is None
    pq.write_table(pa.table({"x": [1.0, nan]}), tmp_path / "x.parquet")
    chosen = {"filters": [("x", "!=", 1.0)], "columns": ["x"]}
    assert len(faults.read_table(tmp_path / "x.parquet", **chosen)) == 1
    assert len(pq.read_table(tmp_path / "x.parquet", **chosen)) == 0
