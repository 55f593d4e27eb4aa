"""Functions with all their options, compared with pyarrow's results at random."""

import math
import sys
from functools import partial

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from . import standin, standin_functions
from .answers import compare

pytestmark = [pytest.mark.simulator, pytest.mark.usefixtures("libcudf")]
HOST = pa.default_cpu_memory_manager()
#: Whose every call of libcudf the stand-in has.
NAMES = """
    round floor ceil trunc sign rank list_slice list_parent_indices list_flatten
    cumulative_sum cumulative_sum_checked cumulative_prod cumulative_min cumulative_max
    floor_temporal ceil_temporal round_temporal
    year day hour second nanosecond day_of_week is_leap_year week us_year us_week iso_week
    iso_calendar subsecond local_timestamp assume_timezone
    max_element_wise min_element_wise map_lookup run_end_decode
    shift_left shift_right shift_left_checked mode run_end_encode replace_with_mask struct_field
    strftime strptime
    years_between weeks_between days_between hours_between milliseconds_between
    match_substring match_like starts_with ends_with find_substring count_substring
    match_substring_regex
    utf8_center ascii_center utf8_split_whitespace ascii_split_whitespace
    utf8_upper utf8_swapcase utf8_capitalize ascii_lower ascii_capitalize
    utf8_is_alpha utf8_is_digit utf8_is_numeric utf8_is_printable utf8_is_space utf8_is_upper
"""


@pytest.mark.filterwarnings("ignore:Specifying null_placement")
@pytest.mark.parametrize("name", NAMES.split())
def test_calls_at_random(cudf, monkeypatch, name):
    plc = sys.modules["pylibcudf"]
    monkeypatch.setattr(plc.sorting, "rank", standin_functions.rank(standin.Column))
    found = compare(name, cudf.KERNELS[name].takes, 60, 0, 60)
    assert found["failed"] == []
    assert found["same"] == 60


def check(call, given, there):
    expected, found = call(given), call(there(given))
    assert found.type == expected.type
    assert not (len(found) and found.is_cpu)
    assert found.copy_to(HOST).equals(expected)


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ([[1, 2], None, [], [None, 3]], pa.list_(pa.int8())),
        ([[1, 2], None, [], [None, 3]], pa.list_(pa.field("x", pa.float32()))),
        ([[[1]], None, [[2, None], None]], pa.list_(pa.list_(pa.int16()))),
        ([[], None], pa.list_(pa.int64())),
    ],
)
def test_casts_of_lists(there, given, wanted):
    lists = pa.array(given, None if any(given) else pa.list_(pa.int8()))
    check(lambda it: it.cast(wanted), lists, there)
    check(lambda it: it.cast(wanted), lists.slice(1), there)


@pytest.mark.parametrize("zone", [None, "UTC"])
@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_times_as_texts(there, unit, zone):
    times = pa.array([0, None, -1, 10**9, 1234567890123], pa.timestamp(unit, zone))
    times = times if unit != "s" else times.slice(0, 4)
    check(lambda it: it.cast(pa.string()), times, there)
    check(lambda it: it.cast(pa.large_string()), times.cast(pa.date32(), safe=False), there)


def test_times_that_are_not_texts(there):
    for kind, reason in (("Europe/Paris", "not in time zones"), (None, "years without four")):
        times = pa.array([0, 3 * 10**11], pa.timestamp("s", kind))
        with pytest.raises(NotImplementedError, match=reason):
            there(times).cast(pa.string())


def test_elements_that_a_cast_would_change(there):
    lists = pa.array([[1], [300], [2]])
    for place in (lambda it: it, there):
        with pytest.raises(pa.ArrowInvalid, match="300 not in range"):
            place(lists).cast(pa.list_(pa.int8()))
    # On the host, whether this raises depends on where the slice lies.
    with pytest.raises(NotImplementedError, match="not of slices with elements"):
        there(lists.slice(2)).cast(pa.list_(pa.int8()))


def test_parents_of_elements_under_nulls(there):
    values, nulls = pa.array([1, 2, 3, 4]), pa.array([False, True, False])
    lists = pa.ListArray.from_arrays(pa.array([0, 1, 3, 4], pa.int32()), values, mask=nulls)
    check(pc.list_parent_indices, lists, there)
    check(lambda it: pc.list_slice(it, 0, 1), lists, there)
    check(lambda it: pc.list_slice(it, 2**33), lists, there)
    for wrong in ((2, 1), (-1, 3), (0, 3, 0)):
        for array in (lists, there(lists)):
            with pytest.raises(pa.ArrowInvalid, match=r"should be|must be"):
                pc.list_slice(array, *wrong)


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (lambda it: pc.cumulative_min(it.cast(pa.float64()), start=-0.0), "not with such a start"),
        (lambda it: pc.cumulative_max(it.cast(pa.float64()), start=math.nan), "such a start"),
        (lambda it: pc.round(it.cast(pa.int8()), -1, "up"), "whose result the type does not have"),
        (lambda it: pc.floor_temporal(it.cast(pa.date32()), 5, "hour"), "not to units that date32"),
        (lambda it: pc.floor_temporal(it.cast(pa.date32()), 2**30, "month"), "so many months"),
    ],
)
def test_what_is_not_covered_is_refused(there, call, reason):
    with pytest.raises(NotImplementedError, match="libcudf") as error:
        call(there(pa.array([1, 127, None], pa.int32())))
    assert reason in str(error.value)


@pytest.mark.parametrize("change", [pc.utf8_upper, pc.ascii_swapcase, pc.utf8_capitalize])
def test_strings_with_nul_change_their_case_in_ascii_only(there, change):
    words = pa.array(["a\0b", None, ""])
    check(change, words, there)
    with pytest.raises(NotImplementedError, match="not with NUL and characters beyond ASCII"):
        change(there(pa.array(["a\0b", "é"])))


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (lambda it: pc.match_like(it, "\\\\_"), "not with such escapes"),
        (lambda it: pc.match_like(it, "\0_"), "or with NUL"),
        (lambda it: pc.match_substring(it, "é", ignore_case=True), "of such characters"),
        (lambda it: pc.starts_with(it, "k", ignore_case=True), "beyond ASCII"),
        (lambda it: pc.utf8_title(it), "beyond ASCII"),
        (lambda it: pc.utf8_split_whitespace(it, max_splits=0), "not without a split"),
        (lambda it: pc.match_substring_regex(it, "a", ignore_case=True), "beyond ASCII"),
        (lambda it: pc.match_substring_regex(it, "(a*)+"), "such a regular expression"),
        (lambda it: pc.match_substring_regex(it, "a\\b"), "such a regular expression"),
        (lambda it: pc.match_substring_regex(it, "(?i)a"), "such a regular expression"),
        (lambda it: pc.match_substring_regex(it, ""), "such a regular expression"),
        (lambda it: pc.match_substring_regex(it, "[[:alpha:]]"), "such a regular expression"),
    ],
)
def test_what_is_not_covered_of_strings_is_refused(there, call, reason):
    with pytest.raises(NotImplementedError, match="libcudf") as error:
        call(there(pa.array(["K", "é"])))
    assert reason in str(error.value)


@pytest.mark.parametrize("name", ["utf8_upper", "utf8_lower", "utf8_swapcase"])
def test_cases_of_all_characters(there, name):
    codes = [code for code in range(1, 0x20000) if not 0xD800 <= code < 0xE000]
    check(getattr(pc, name), pa.array([*map(chr, codes)]), there)


@pytest.mark.parametrize("name", ["is_lower", "is_alnum", "is_decimal"])
def test_classes_of_characters(there, name):
    codes = [*range(0x250), *range(0x250, 0xD800, 97), *range(0xE000, 0x110000, 997)]
    check(getattr(pc, f"utf8_{name}"), pa.array([*map(chr, codes)]), there)


def test_shifts_that_pyarrow_refuses(there):
    bits = pa.array([7, None, 1], pa.int8())
    for one, other in ((bits, bits), (there(bits), bits)):
        assert pc.shift_left(one, other).copy_to(HOST).to_pylist() == [7, None, 2]
        with pytest.raises(pa.ArrowInvalid, match="less than precision of type"):
            pc.shift_left_checked(one, other)


def test_more_rows_than_run_ends_can_hold(there):
    rows = pa.array([0] * 2**15, pa.int8())
    for array in (rows, there(rows)):
        with pytest.raises(pa.ArrowInvalid, match="can hold: 32767"):
            pc.run_end_encode(array, pa.int16())


def test_replacements_that_do_not_fit(there):
    rows, mask = pa.array([1, 2]), pa.array([True, None])
    for array in (rows, there(rows)):
        with pytest.raises(pa.ArrowInvalid, match="expected 1 items but got 0 items"):
            pc.replace_with_mask(array, mask, pa.array([], pa.int64()))
        with pytest.raises(pa.ArrowInvalid, match="expected 2 items but got 1 items"):
            pc.replace_with_mask(array, mask[:1], 3)


def at(text, zone=None, unit="s"):
    return pc.strptime([text], "%Y-%m-%d %H:%M:%S", unit)[0].cast(pa.timestamp(unit, zone))


@pytest.mark.parametrize("recursive", [True, False])
def test_lists_within_lists(there, recursive):
    for given in ([[[1], None, [2, 3]], None, [], [[None]]], [[None], None], [[]]):
        lists = pa.array(given, pa.list_(pa.list_(pa.int32())))
        check(lambda it: pc.list_flatten(it, recursive=recursive), lists, there)
        check(lambda it: pc.list_flatten(it, recursive=recursive), lists[1:], there)


def test_no_modes(there):
    check(lambda it: pc.mode(it, skip_nulls=False), pa.array([1, None]), there)
    check(lambda it: pc.mode(it, min_count=2), pa.array([1, None]), there)


@pytest.mark.parametrize("choice", ["earliest", "latest"])
@pytest.mark.parametrize("unit", ["s", "ns"])
def test_clocks_that_are_set(there, unit, choice):
    clock = pa.array([at("2022-03-27 02:30:00", unit=unit), at("2021-10-31 02:30:00", unit=unit)])
    for place in (clock, clock.slice(1)):
        check(
            lambda it: pc.assume_timezone(it, "Europe/Paris", ambiguous=choice, nonexistent=choice),
            place,
            there,
        )
    for place in range(2):
        for array in (clock.slice(place), there(clock.slice(place))):
            with pytest.raises(pa.ArrowInvalid, match=r"2021-10-31 02:30|2022-03-27 02:30"):
                pc.assume_timezone(array, "Europe/Paris")


@pytest.mark.parametrize(
    "text",
    [
        *("2022-03-27 01:59:59", "2022-03-27 03:00:00", "2021-10-31 01:59:59"),
        *("2021-10-31 02:00:00", "2021-10-31 02:59:59", "2021-10-31 03:00:00"),
    ],
)
@pytest.mark.parametrize("choice", ["earliest", "latest"])
def test_clocks_before_and_after_they_are_set(there, choice, text):
    def assumed(it):
        return pc.assume_timezone(it, "Europe/Paris", ambiguous=choice)

    check(assumed, pa.array([at(text)]), there)


@pytest.mark.parametrize("unit", ["day", "week", "month", "quarter", "year"])
@pytest.mark.parametrize("name", ["floor_temporal", "ceil_temporal", "round_temporal"])
def test_times_at_the_beginning_of_a_unit(there, name, unit):
    times = pa.array([at("2024-01-01 00:00:00"), at("1968-01-01 00:00:00"), None])
    for strictly in (False, True):
        check(
            lambda it, strictly=strictly: getattr(pc, name)(
                it, unit=unit, ceil_is_strictly_greater=strictly
            ),
            times,
            there,
        )


def test_dates_in_parts(there):
    dates = pa.array([0, None, 20_000, -1], pa.int32()).cast(pa.date32())
    found = pc.year_month_day(there(dates)).copy_to(HOST)
    days = [None if it is None else [*it.values()] for it in found.to_pylist()]
    assert days == [[1970, 1, 1], None, [2024, 10, 4], [1969, 12, 31]]
    assert found.type == pc.year_month_day(dates[:0]).type


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_seconds_have_the_digits_of_the_unit(there, unit):
    times = pa.array([-1, None, 1], pa.int64()).cast(pa.timestamp(unit))
    check(lambda it: pc.strftime(it, "%F %T"), times, there)


@pytest.mark.parametrize(
    ("text", "form", "reason"),
    [
        ("2021-02-31", "%Y-%m-%d", "not exactly in this format"),  # pyarrow takes it for March
        (" 2021-2-1", "%Y-%m-%d", "not exactly in this format"),
        ("2021-02-01\n", "%Y-%m-%d", "not exactly in this format"),
        ("2300-02-01", "%Y-%m-%d", "not of times that the type does not have"),
        ("10:11", "%H:%M", "not with this format"),
        ("2021-02-01 +0100", "%Y-%m-%d %z", "not with this format"),
    ],
)
def test_texts_that_are_no_plain_times_are_refused(there, text, form, reason):
    with pytest.raises(NotImplementedError, match=f"libcudf.*{reason}"):
        pc.strptime(there(pa.array([text, None])), form, "ns")


@pytest.mark.parametrize("zone", ["UTC", None, "America/New_York"])
def test_times_in_several_zones(there, zone):
    paris = pa.array([0, None, 10**9], pa.int64()).cast(pa.timestamp("s", "Europe/Paris"))
    other = pa.array([1, 2, 10**9], pa.int64()).cast(pa.timestamp("s", zone))
    check(lambda it: it.cast(other.type), paris, there)
    check(lambda it: it.cast(paris.type), other, there)
    check(lambda it: it.cast(pa.date32()), other, there)
    if zone is not None:
        check(lambda it: pc.less(it, other), paris, there)
    else:
        with pytest.raises(pa.ArrowInvalid, match="without timezone"):
            pc.less(there(paris), other)


def test_transitions_to_the_second(there):
    summer = [at(f"2022-03-27 {it}", "Europe/Paris") for it in ("00:59:59", "01:00:00")]
    check(pc.hour, pa.array(summer), there)
    check(pc.hour, pa.array([pa.scalar(it, summer[0].type) for it in (0, None)]), there)


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (pc.day, "before 1800 or after 2199"),
        (lambda it: pc.floor_temporal(it, 1, "day"), "not in time zones"),
        (lambda it: pc.week(it, count_from_zero=True), "not with such weeks"),
    ],
)
def test_what_is_not_covered_in_zones_is_refused(there, call, reason):
    times = pa.array([at("2400-01-01 00:00:00", "Europe/Paris")])
    with pytest.raises(NotImplementedError, match=f"libcudf.*{reason}"):
        call(there(times))


@pytest.mark.parametrize("pattern", ["%a\\", "a\\b%", "%\0%", "\\%a_", "_\\b", "%%", "", "\\a"])
def test_escapes_in_patterns(there, pattern):
    words = pa.array(["a\\", "a\\b", "x\0y", "%ab", "cb", "", None, "a", "é%"])
    check(lambda it: pc.match_like(it, pattern), words, there)


LINES = ["", "a", "a\n", "\na", "ab", "1 b", "\v", "]", "a-b", "é", "_", "Ab\n\n", "x\\y", None]
EXPRESSIONS = [
    *("a$", "^a$", "b$|^1", "a.b", "a.", r"\s", r"\S", r"\D", r"\w+\W", "[^a]", "[^a-z]$", "é|_"),
    *("[a-]", "[-a]", r"[\]x]", r"[\w-]{2,}", r"[^\d\s]", r"\\", r"\-", "(?:a|b)+?$", "(?P<n>a)b"),
    *("a{2}", "a{0,2}b", "(ab|1 )b?", "[\\\\-a]", "x.y"),
]


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_regular_expressions(there, expression):
    check(lambda it: pc.match_substring_regex(it, expression), pa.array(LINES), there)
    if expression.isascii():
        lines = pa.array([it for it in LINES if it is None or it.isascii()])
        check(lambda it: pc.match_substring_regex(it, expression, ignore_case=True), lines, there)


def test_wrong_expressions_are_pyarrows_error(there):
    for wrong in ("[z-a]", "(", "a**", "a{1001}"):
        for array in (pa.array(["a"]), there(pa.array(["a"]))):
            with pytest.raises(pa.ArrowInvalid, match="Invalid regular expression"):
                pc.match_substring_regex(array, wrong)


def test_digits_that_rounding_would_lose_are_pyarrows_error(there):
    given = pa.array(["9.99", None]).cast(pa.decimal128(3, 2))
    for array in (given, there(given)):
        with pytest.raises(pa.ArrowInvalid, match=r"value 10\.00 does not fit in precision of"):
            pc.ceil(array)
        with pytest.raises(pa.ArrowInvalid, match="Rounding to -1 digits will not fit"):
            pc.round(array, -1)


def test_entries_under_nulls_are_in_no_map(there):
    keys, items = pa.array(["a", "a", "b", "a"]), pa.array([1, 2, 3, None])
    bits = pa.array([True, False, True, True]).buffers()[1]
    pairs = pa.StructArray.from_arrays([keys, items], ["key", "value"])
    offsets = pa.array([0, 1, 2, 2, 4], pa.int32()).buffers()[1]
    maps = pa.Array.from_buffers(
        pa.map_(pa.string(), pa.int64()), 4, [bits, offsets], 1, 0, [pairs]
    )
    for occurrence in ("first", "last", "all"):
        for given in (maps, maps.slice(1), maps.slice(1, 1)):
            check(partial(pc.map_lookup, query_key="a", occurrence=occurrence), given, there)
    with pytest.raises(pa.ArrowTypeError, match="Got unsupported type: double"):
        pc.map_lookup(there(pa.array([[(1.0, 2)]], pa.map_(pa.float64(), pa.int64()))), 1.0, "all")


def test_slices_of_runs(there):
    runs = pc.run_end_encode(pa.array(["a", "a", None, "b", "b", "b"]))
    for start, size in ((0, 6), (1, 4), (2, 1), (5, 1)):
        check(pc.run_end_decode, runs.slice(start, size), there)


def test_the_first_of_two_zeros_is_kept(there):
    zeros, others = pa.array([0.0, -0.0, math.nan, None]), pa.array([-0.0, 0.0, 1.0, math.nan])
    for call in (pc.min_element_wise, pc.max_element_wise):
        for more in ((others,), (others, -0.0), (pa.scalar(0.0), others)):
            found = call(
                there(zeros),
                *map(lambda it: it if isinstance(it, float | pa.Scalar) else there(it), more),
            )
            assert repr(found.copy_to(HOST).to_pylist()) == repr(call(zeros, *more).to_pylist())
