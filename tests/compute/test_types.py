"""Types that libcudf lacks: their rows are selected by the memory of those that it has."""

from decimal import Decimal

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from pyarrow import cuda

from pyarrow_cuda_compat import _native

from . import standin
from .conftest import back, of

pytestmark = [pytest.mark.simulator, pytest.mark.usefixtures("libcudf")]


LONGS = pa.array([86400000, 0, None, 86400000, 172800000], pa.int64())
INTS = pa.array([5, 1, None, 5, 0], pa.int32())
WIDE = pa.array([Decimal(5), Decimal(2**100), None, Decimal(5), Decimal(-1)], pa.decimal128(38))
WORDS = pa.array(["b", "ab\u00e9", None, "b", ""])
RAW = pa.array([b"b", b"\xff\xfe", None, b"b", b""])
#: Types whose values have an order.
ORDERED = [
    WORDS.cast(pa.large_string()),
    RAW,
    RAW.cast(pa.large_binary()),
    *(INTS.view(pa.time32(unit)) for unit in ("s", "ms")),
    *(LONGS.view(pa.time64(unit)) for unit in ("us", "ns")),
    LONGS.view(pa.date64()),
    LONGS.view(pa.timestamp("ms", "Europe/Paris")),
]
#: Arrays of which the bits alone are compared.
BITS = [
    INTS.cast(pa.int16()).view(pa.float16()),
    INTS.cast(pa.int8()).view(pa.binary(1)),
    INTS.cast(pa.int16()).view(pa.binary(2)),
    INTS.view(pa.binary(4)),
    LONGS.view(pa.binary(8)),
    WIDE.view(pa.binary(16)),
    WIDE.view(pa.month_day_nano_interval()),
]
if hasattr(pa, "decimal32"):
    BITS += [INTS.view(pa.decimal32(7, 2)), LONGS.view(pa.decimal64(15, 2))]
DICTIONARIES = [
    pa.DictionaryArray.from_arrays(pa.array([0, 1, None, 0, 2], kind), values)
    for kind, values in (
        (pa.int8(), ["b", "a", ""]),
        (pa.int32(), [5, 1, 7]),
        (pa.uint16(), INTS.unique().drop_null().view(pa.time32("s"))),
    )
]
LISTS = [
    pa.array([[1, None], [], None, [1, None], [2]], pa.large_list(pa.int32())),
    pa.array([["a"], [], None, ["b", None], ["c"]], pa.large_list(pa.string())),
    pa.array([["a"], [], None, ["b", None], ["c"]], pa.list_(pa.large_string())),
    pa.array([[b"a"], [], None, [b"\xff", None], [b"c"]], pa.list_(pa.binary())),
    pa.array([[1], [], None, [2, None], [3]], pa.list_(pa.time32("s"))),
]
MAPS = [
    pa.array(
        [[("a", 1), ("b", None)], [], None, [("a", 1)], [("c", 3)]], pa.map_("string", "int8")
    ),
    pa.array(
        [[(86400000, b"\xff")], [], None, [], [(0, None)]], pa.map_("date64", "large_binary", True)
    ),
]
STRUCTS = [
    pa.StructArray.from_arrays([RAW, LONGS.view(pa.date64())], ["a", "b"]),
    pa.StructArray.from_arrays(
        [INTS.view(pa.binary(4))],
        fields=[pa.field("a", pa.binary(4), metadata={"k": "v"})],
        mask=pa.array([False, True, False, False, False]),
    ),
]
STORED = [
    pa.ExtensionArray.from_storage(pa.uuid(), WIDE.view(pa.binary(16))),
    pa.ExtensionArray.from_storage(pa.json_(), WORDS),  # pyarrow's joins read longer ones wrong
    pa.ExtensionArray.from_storage(pa.opaque(pa.list_(pa.binary()), "a", "b"), LISTS[3]),
]
SELECTED = [*ORDERED, *BITS, *DICTIONARIES, *LISTS, *MAPS, *STRUCTS, *STORED, pa.nulls(5)]
KEYS = [*ORDERED, *BITS, *DICTIONARIES]


def named(array):
    return str(array.type).replace(" ", "")


def pieces(array):
    """The array, a slice of it, one without nulls, and chunks of which one is empty."""
    yield array
    yield array.slice(1, 3)
    yield array.drop_null()
    yield pa.chunked_array([array.slice(3), array.slice(0, 0), array.slice(0, 4)])


def same(found, expected):
    found = back(found)
    assert type(found) is type(expected)
    if isinstance(found, pa.Table | pa.RecordBatch):
        assert found.schema.equals(expected.schema, check_metadata=True)
        assert found.equals(expected)
    else:
        assert found.type.equals(expected.type, check_metadata=True)
        assert found.equals(expected)
    found.validate(full=True)


SELECTIONS = (
    lambda it: it.filter(pc.field("n") > 0),
    lambda it: it.filter(pc.field("n") > 99),
    lambda it: it.filter(pa.array([number % 2 == 0 for number in range(len(it))])),
    lambda it: it.filter(pa.array([True] + [None] * (len(it) - 1)), "emit_null"),
    lambda it: it.take(pa.array([*range(len(it) - 1, -1, -1), 0])),
    lambda it: it.sort_by([("n", "descending")]),
    lambda it: it.slice(len(it) - 1).take(pa.array([0])),
    lambda it: it.slice(1, 0).filter(pc.field("n") > 0),
)


@pytest.mark.parametrize("array", SELECTED, ids=named)
def test_other_columns_of_a_table_are_selected(there, array):
    for piece in pieces(array):
        rows = len(piece)
        if not rows:
            continue
        table = pa.table({"n": range(rows), "v": piece, "w": piece})
        device = there(table)
        for call in SELECTIONS:
            same(call(device).combine_chunks(), call(table).combine_chunks())


@pytest.mark.parametrize("array", SELECTED, ids=named)
def test_nulls_are_found_and_dropped(there, array):
    for piece in pieces(array):
        table = pa.table({"v": piece, "n": range(len(piece))})
        same(there(table).drop_null().combine_chunks(), table.drop_null().combine_chunks())
        found = there(table)["v"]
        same(pc.is_null(found).combine_chunks(), pc.is_null(table["v"]).combine_chunks())
        for mode in ("only_valid", "only_null", "all"):
            assert pc.count(found, mode) == pc.count(table["v"], mode)


@pytest.mark.parametrize("array", SELECTED, ids=named)
def test_the_payload_of_a_join(there, array):
    left, right = pa.table({"k": range(5), "v": array}), pa.table({"k": [3, 1, 7]})
    try:
        expected = left.join(right, "k", join_type="left semi")
    except pa.ArrowInvalid:
        with pytest.raises(pa.ArrowInvalid, match="not supported in join non-key field"):
            there(left).join(there(right), "k", join_type="left semi")
        return
    found = there(left).join(there(right), "k", join_type="left semi")
    same(found.sort_by("k").combine_chunks(), expected.sort_by("k").combine_chunks())


def test_joins_by_dictionaries(there):
    """Their values are compared, also with those of other columns."""
    left = pa.table({"k": DICTIONARIES[0], "x": range(5)})
    words = pa.array(["b", None, "z"])
    for keys in (words, words.dictionary_encode(), words.cast(pa.dictionary(pa.int8(), "string"))):
        right = pa.table({"k": keys, "y": [1, 2, 3]})
        found = there(left).join(there(right), "k", join_type="left semi")
        expected = left.join(right, "k", join_type="left semi")
        same(found.sort_by("x").combine_chunks(), expected.sort_by("x").combine_chunks())
    with pytest.raises(pa.ArrowInvalid, match="Incompatible data types"):
        there(left).join(there(pa.table({"k": INTS})), "k", join_type="left semi")
    with pytest.raises(NotImplementedError, match="keys of several dictionaries in one column"):
        there(left).join(there(left.select(["k"])), "k", join_type="full outer")
    numbers = there(pa.table({"k": pa.array([0.5, None]).dictionary_encode()}))
    with pytest.raises(NotImplementedError, match="dictionaries of floating-point numbers"):
        numbers.join(numbers, "k", join_type="left semi")


@pytest.mark.parametrize("array", KEYS, ids=named)
def test_keys_of_groups(there, array):
    for piece in pieces(array):
        table = pa.table({"k": piece, "n": range(len(piece))})

        def grouped(it):
            found = it.group_by("k", use_threads=False).aggregate([("n", "sum"), ([], "count_all")])
            # pyarrow's own groups may come in another order where hashes collide.
            return found.sort_by([("n_sum", "ascending")]).combine_chunks()

        same(grouped(there(table)), grouped(table))


def outcome(name, *arrays):
    """The result, or the kind of error."""
    try:
        return pc.call_function(name, list(arrays))
    except NotImplementedError:
        return "not implemented"


@pytest.mark.parametrize("array", KEYS, ids=named)
def test_distinct_values(there, array):
    for piece in (array, array.slice(1, 3), array.drop_null()):
        counts = [] if array.type == pa.float16() else ["count_distinct"]
        for name in ("unique", "value_counts", "dictionary_encode", *counts):
            expected = outcome(name, piece)
            found = outcome(name, there(piece))
            if isinstance(found, pa.Scalar | str):
                assert found == expected
            else:
                same(found, expected)


@pytest.mark.parametrize("array", ORDERED, ids=named)
def test_order_and_comparisons(there, array):
    other = array.take(pa.array([4, 1, 3, 2, 0]))
    device = there(array)
    for name in ("equal", "not_equal", "less", "greater_equal"):
        same(pc.call_function(name, [device, there(other)]), pc.call_function(name, [array, other]))
        same(pc.call_function(name, [device, array[0]]), pc.call_function(name, [array, array[0]]))
    same(pc.sort_indices(device), pc.sort_indices(array))
    extremes = () if "binary" in str(array.type) else ("min", "max", "min_max")
    for name in (*extremes, "first", "last", "first_last"):
        found, expected = pc.call_function(name, [device]), pc.call_function(name, [array])
        assert found.equals(expected)
        assert found.type == expected.type
    same(pc.coalesce(device, array[0]), pc.coalesce(array, array[0]))
    same(pc.is_in(device, value_set=array[1:3]), pc.is_in(array, value_set=array[1:3]))
    assert pc.index(device, array[4]).as_py() == 4
    table = pa.table({"k": array, "n": range(5)})
    same(there(table).sort_by("k").combine_chunks(), table.sort_by("k").combine_chunks())


def test_lists_without_elements(there):
    """libcudf's strings without rows have no offsets, or one of 32 bits."""
    kinds = [pa.list_(pa.large_string()), pa.list_(pa.list_(pa.large_binary()))]
    kinds += [pa.list_(pa.struct({"a": pa.large_string()})), pa.large_list(pa.bool_())]
    for kind in kinds:
        table = pa.table({"v": pa.array([[], None], kind)})
        same(there(table).take(pa.array([1, 0])).combine_chunks(), table.take(pa.array([1, 0])))


VECTORS = pa.array([[1, None], [3, 4], [5, 6], [7, 8]], pa.list_(pa.int32(), 2))


PAIRS = pa.array([[b"a", b"\xff"], [None, b""], [b"b", b"c"]], pa.list_(pa.binary(), 2))


@pytest.mark.parametrize("array", [VECTORS, VECTORS.slice(1), PAIRS], ids=len)
def test_lists_of_one_size(there, array):
    table = pa.table({"n": range(len(array)), "v": array})
    nested = pa.table({"n": table["n"], "v": pa.chunked_array([array.slice(1), array.slice(0, 1)])})
    for call in (
        lambda it: it.filter(pc.field("n") > 0),
        lambda it: it.filter(pc.field("n") > 99),
        lambda it: it.sort_by([("n", "descending")]),
        lambda it: it.take(pa.array([2, 0, 2])),
        lambda it: it.slice(1).drop_null(),
    ):
        for data in (table, nested):
            same(call(there(data)).combine_chunks(), call(data).combine_chunks())


def test_nulls_among_lists_of_one_size_are_refused(there):
    """libcudf's have no elements."""
    table = there(pa.table({"v": VECTORS}))
    with pytest.raises(NotImplementedError, match="not with nulls in results"):
        table.take(pa.array([0, None]))
    table = there(pa.table({"v": pa.array([[1, 2], None], VECTORS.type)}))
    with pytest.raises(NotImplementedError, match="not with nulls of type fixed_size_list"):
        table.take(pa.array([0]))


def test_a_dictionary_on_the_host(there):
    table = pa.table({"v": DICTIONARIES[0], "n": range(5)})
    mask = pa.array([True, False, True, True, False])
    found = pc.filter(table, there(mask))
    assert not found["v"].chunk(0).dictionary.is_cpu
    same(found.combine_chunks(), table.filter(mask))


def test_chunks_of_several_dictionaries_are_refused(there):
    """pyarrow unifies them."""
    chunks = [pa.array(words).dictionary_encode() for words in (["a", "b"], ["b", "c"])]
    table = there(pa.table({"v": pa.chunked_array(chunks)}))
    for call in (lambda: table.filter(pa.array([True] * 4)), lambda: pc.unique(table["v"])):
        with pytest.raises(NotImplementedError, match="call unify_dictionaries"):
            call()
    one = there(pa.table({"v": pa.chunked_array(chunks)}).unify_dictionaries())
    assert back(one.take(pa.array([3, 0])))["v"].to_pylist() == ["c", "a"]


def test_nulls_in_a_dictionary_are_refused(there):
    """Some functions of pyarrow take them for nulls, others do not."""
    array = pa.DictionaryArray.from_arrays(pa.array([0, 1]), pa.array(["a", None]))
    with pytest.raises(NotImplementedError, match="not with nulls in a dictionary"):
        there(array).is_null()


def test_dictionaries_in_expressions(there):
    array = pa.array(["b", "a", None, "b"]).dictionary_encode()
    table = pa.table({"k": array, "n": [1, 2, 3, 4]})
    chunks = pa.concat_tables([table, table.slice(1)]).unify_dictionaries()
    k = pc.field("k")
    for expression in (k.is_null(), ~k.is_null(), k == "a", k != "b", k.isin(["a", "c"])):
        same(there(table).filter(expression).combine_chunks(), table.filter(expression))
        found = there(chunks).filter(expression)
        same(found.combine_chunks(), chunks.filter(expression).combine_chunks())
    expression = k.cast("string") == "a"
    same(there(table).filter(expression).combine_chunks(), table.filter(expression))
    with pytest.raises(NotImplementedError):
        there(table).filter(pc.utf8_upper(k) == "A")


def test_dictionaries_are_compared_by_their_values(there):
    array, words = DICTIONARIES[0], pa.array(["a", "a", "a", "b", None])
    pairs = [(array, words), (words, array), (array, array.slice(0)), (array, pa.scalar("b"))]
    pairs.append((array, words.cast(pa.large_string())))
    for left, right in pairs:
        for name in ("equal", "less", "greater_equal", "not_equal"):
            expected = pc.call_function(name, [left, right])
            same(pc.call_function(name, [there(left), right]), expected)
    for name in ("is_in", "index_in"):
        options = pc.SetLookupOptions(pa.array(["b", "c"]))
        expected = pc.call_function(name, [array], options)
        same(pc.call_function(name, [there(array)], options), expected)


def test_results_without_rows_have_the_dictionary(there):
    array = pa.array(["a", "b"]).dictionary_encode()
    nothing = pa.array([False, False])
    found = there(array).filter(nothing)
    assert back(found).dictionary.equals(array.dictionary)
    found = there(pa.table({"k": array})).filter(nothing)["k"]
    assert back(found.chunk(0)).dictionary.equals(array.dictionary)


def test_dictionaries_of_floating_point_numbers(there):
    """pyarrow takes NaN for the largest number there, and for null in newer releases."""
    array = there(pa.array([1.0, float("nan"), None]).dictionary_encode())
    with pytest.raises(NotImplementedError, match="of dictionaries of floating-point numbers"):
        pc.sort_indices(array)
    with pytest.raises(NotImplementedError, match="where NaN is null"):
        pc.is_null(array, nan_is_null=True)
    assert back(pc.is_null(array)).to_pylist() == [False, False, True]


def test_dictionaries_are_sorted_by_their_values(there):
    for array in DICTIONARIES:
        same(pc.sort_indices(there(array)), pc.sort_indices(array))
    with pytest.raises(NotImplementedError, match="dictionary<"):
        there(pa.table({"k": DICTIONARIES[0]})).sort_by("k")


@pytest.mark.parametrize("array", [*BITS, *LISTS, pa.nulls(2)], ids=named)
def test_what_has_no_order_is_no_key_to_sort_by(there, array):
    table = pa.table({"n": range(len(array)), "k": array})
    with pytest.raises((NotImplementedError, pa.lib.ArrowTypeError)):
        there(table).sort_by("k")


# --- types of one layout -------------------------------------------------------------------------

STRINGS = [pa.string(), pa.large_string(), pa.binary(), pa.large_binary()]
VIEWS = [pa.string_view(), pa.binary_view()]
ASCII = pa.array(["b", "a", None, "b", "", "a longer word than fits"])


@pytest.mark.parametrize("given", [*STRINGS, *VIEWS], ids=str)
@pytest.mark.parametrize("wanted", STRINGS, ids=str)
def test_casts_between_strings(there, given, wanted):
    for words in (ASCII, ASCII.slice(1, 3), ASCII.slice(5)):
        array = words.cast(given)
        same(pc.cast(there(array), wanted), array.cast(wanted))
        chunks = pa.chunked_array([array, array.slice(1)])
        same(pc.cast(there(chunks), wanted).combine_chunks(), chunks.cast(wanted).combine_chunks())


#: Bytes around each limit of UTF-8, and strings that are cut within a character.
LEADS = [0x00, 0x41, 0x7F, 0x80, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1, 0xEC, 0xED, 0xEE, 0xEF]
LEADS += [0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xFF]
TAILS = [b"", b"A", b"\x80", b"\x8f", b"\x90", b"\x9f", b"\xa0", b"\xbf", b"\xc2"]
TAILS += [one + b"\x80" for one in TAILS[2:8]] + [one + b"\x80\xbf" for one in TAILS[2:8]]
BYTES = [bytes([lead]) + tail for lead in LEADS for tail in TAILS]


def is_utf8(word):
    try:
        word.decode()
    except UnicodeDecodeError:
        return False
    return True


def test_bytes_are_strings_if_they_are_utf8(there):
    right = [word for word in BYTES if is_utf8(word)]
    assert 40 < len(right) < 200
    for kind in (pa.binary(), pa.large_binary(), pa.binary_view()):
        array = pa.array(["", *right, ""], pa.binary()).cast(kind)
        for piece in (array, array.slice(3, 20)):
            same(pc.cast(there(piece), pa.large_string()), piece.cast(pa.large_string()))


@pytest.mark.parametrize("word", [word for word in BYTES if not is_utf8(word)], ids=repr)
def test_bytes_that_are_not_utf8(there, word):
    array = pa.array([b"a", word, b"b"])
    with pytest.raises(pa.ArrowInvalid, match="Invalid UTF8 payload"):
        array.cast(pa.string())
    with pytest.raises(pa.ArrowInvalid, match="Invalid UTF8 payload"):
        pc.cast(there(array), pa.string())


def test_bytes_that_are_cut_within_a_character(there):
    for words in ([b"a\xc3", b"\xa9b"], [b"a", b"\xe3\x81"], [b"\xf0"]):
        array = pa.array(words)  # the first two are UTF-8 together
        with pytest.raises(pa.ArrowInvalid, match="Invalid UTF8 payload"):
            pc.cast(there(array), pa.string())
    with pytest.raises(NotImplementedError, match="under nulls"):
        pc.cast(there(RAW), pa.string())
    found = back(pc.cast(there(RAW), pa.string(), safe=False))
    assert found.cast(pa.binary()).equals(RAW)
    same(pc.cast(there(WORDS), pa.large_binary()), WORDS.cast(pa.large_binary()))
    same(pc.cast(there(WORDS.cast(pa.binary())), pa.string()), WORDS)


def test_strings_of_several_types(there):
    for one in STRINGS:
        for other in STRINGS:
            left, right = ASCII.cast(one), ASCII.take(pa.array([0, 2, 4, 3, 1, 5])).cast(other)
            for name in ("equal", "less", "coalesce"):
                expected = pc.call_function(name, [left, right])
                same(pc.call_function(name, [there(left), there(right)]), expected)


@pytest.mark.parametrize("kind", VIEWS, ids=str)
def test_views(there, kind):
    array = ASCII.cast(kind)
    other = ASCII.take(pa.array([1, 0, 3, 2, 5])).cast(kind)
    device = there(array)
    for name in ("is_null", "is_valid", "true_unless_null"):
        same(pc.call_function(name, [device]), pc.call_function(name, [array]))
    assert pc.count(device) == pc.count(array)
    for name in ("equal", "less"):
        if isinstance(outcome(name, array, array), str):
            continue  # an older pyarrow
        found = pc.call_function(name, [device.slice(1), there(other)])
        same(found, pc.call_function(name, [array.slice(1), other]))
        same(pc.call_function(name, [device, array[0]]), pc.call_function(name, [array, array[0]]))
    for call in (lambda: device.take(pa.array([0])), lambda: device.filter(device.is_valid())):
        with pytest.raises(NotImplementedError):
            call()


@pytest.mark.parametrize("kind", VIEWS, ids=str)
def test_distinct_views(there, kind):
    """Their rows are selected by their bits, over the same characters."""
    array = pa.array([*ASCII.to_pylist(), "another word that does not fit", None]).cast(kind)
    array = pa.concat_arrays([array, array.slice(1, 5)])
    valid = ASCII.drop_null().cast(kind)
    for piece in (valid, valid.slice(1, 3), valid.slice(4)):
        for name in ("unique", "value_counts", "dictionary_encode"):
            same(pc.call_function(name, [there(piece)]), pc.call_function(name, [piece]))
    same(pc.dictionary_encode(there(array)), pc.dictionary_encode(array))
    for call in (pc.unique, pc.value_counts, lambda it: pc.dictionary_encode(it, "encode")):
        with pytest.raises(NotImplementedError, match="not with views that are null"):
            call(there(array))


@pytest.mark.skipif(
    int(pa.__version__.split(".")[0]) < 22, reason="pyarrow 21 has no groups by views"
)
@pytest.mark.parametrize("kind", VIEWS, ids=str)
@pytest.mark.parametrize("use_threads", [True, False])
def test_groups_by_views(there, kind, use_threads):
    array = ASCII.cast(kind)
    chunks = pa.chunked_array([array, array.slice(2), array.slice(0, 0)])
    table = pa.table({"k": chunks, "n": range(len(chunks)), "m": [1] * len(chunks)})
    wanted = [("n", "sum"), ("n", "count")]

    def grouped(it):
        return back(it.group_by(["m", "k"], use_threads=use_threads).aggregate(wanted))

    found, expected = (grouped(it).to_pylist() for it in (there(table), table))
    assert sorted(found, key=str) == sorted(expected, key=str)
    assert grouped(there(table)).schema == grouped(table).schema


CLOCKS = [pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns")]
MOMENTS = [pa.timestamp(unit, zone) for unit in ("s", "us") for zone in (None, "UTC", "Asia/Tokyo")]
DATES = [pa.date32(), pa.date64()]


def cast(array, kind, safe):
    """The result on the host, or the text of the error."""
    try:
        return back(pc.cast(array, kind, safe=safe))
    except pa.ArrowInvalid as error:
        return str(error)


@pytest.mark.parametrize("safe", [True, False])
@pytest.mark.parametrize("kinds", [CLOCKS, MOMENTS, DATES, [pa.date64(), *MOMENTS]], ids=str)
def test_casts_between_times(there, kinds, safe):
    for given in kinds:
        width = pa.int32() if given.bit_width == 32 else pa.int64()
        for numbers in ([1500, None, 0], [86400000, None], [1, 2**31 - 1, None]):
            array = pa.array(numbers, width).view(given)
            for wanted in kinds:
                if wanted == pa.date64() and given in MOMENTS:
                    continue
                expected, found = (cast(it, wanted, safe) for it in (array, there(array)))
                if isinstance(expected, str):
                    assert found
                    assert expected.startswith(found)
                    continue
                assert found.type == expected.type
                number = pa.int32() if wanted.bit_width == 32 else pa.int64()
                assert found.view(number).equals(expected.view(number))


@pytest.mark.parametrize("kind", [*CLOCKS, pa.date64(), MOMENTS[-1]], ids=str)
def test_casts_between_times_and_integers(there, kind):
    width = pa.int32() if kind.bit_width == 32 else pa.int64()
    array = pa.array([86400000, None, 0] if kind == pa.date64() else [5, None, 0], width)
    same(pc.cast(there(array), kind), array.cast(kind))
    same(pc.cast(there(array.cast(kind)), width), array)


def test_casts_of_dictionaries_to_long_strings(there):
    array = pa.array(["b", "a", None]).dictionary_encode()
    same(pc.cast(there(array), pa.large_string()), array.cast(pa.large_string()))


def test_results_of_libcudf_with_long_offsets(there, monkeypatch):
    """It makes 64-bit ones for many bytes: they are narrowed, or stay as they are."""
    monkeypatch.setattr(standin, "LONG", 1)
    for kind in STRINGS:
        table = pa.table({"v": ASCII.cast(kind), "n": pa.array([[word] for word in ASCII])})
        same(there(table).take(pa.array([5, 1])).combine_chunks(), table.take(pa.array([5, 1])))


def test_functions_of_strings_take_long_ones(there):
    array = pa.array(["b", "ab", None], pa.large_string())
    for name in ("utf8_upper", "utf8_length", "binary_length", "string_is_ascii"):
        same(pc.call_function(name, [there(array)]), pc.call_function(name, [array]))


def test_float16_is_no_number_here(there):
    """libcudf has its bits only."""
    array = pa.array([1.0, None]).cast(pa.float16())
    with pytest.raises(NotImplementedError, match="where NaN is null"):
        pc.is_null(there(array), nan_is_null=True)
    for call in (lambda it: pc.coalesce(it, pa.scalar(1.0)), pc.negate, pc.sort_indices):
        with pytest.raises(NotImplementedError):
            call(there(array))


@pytest.mark.skipif(not hasattr(pa, "decimal32"), reason="pyarrow has no small decimals")
def test_small_decimals_of_several_types_are_refused(there):
    """libcudf has their digits only, without the point."""
    one, other = (there(pa.array([1, 2], pa.decimal32(*it))) for it in ((5, 2), (7, 4)))
    for name in ("equal", "coalesce", "if_else"):
        first = [there(pa.array([True, False]))] if name == "if_else" else []
        with pytest.raises(NotImplementedError, match="not with several types"):
            pc.call_function(name, [*first, one, other])


@pytest.mark.parametrize("kind", [pa.binary(), pa.large_binary()], ids=str)
def test_extremes_of_bytes_are_refused(there, kind):
    """libcudf's own extremes begin with a text, which some bytes are beyond."""
    data = there(pa.array([b"\xff", b"\xfe"], kind))
    for function in (pc.min, pc.max, pc.min_max):
        with pytest.raises(NotImplementedError, match="not with arguments of type"):
            function(data)
    table = pa.table({"k": there(pa.array([1, 1])), "v": data})
    with pytest.raises(NotImplementedError, match="not hash_min of type"):
        table.group_by("k").aggregate([("v", "min")])


def test_distinct_numbers_of_16_bits_are_not_counted(there):
    with pytest.raises(NotImplementedError, match="not with arguments of type halffloat"):
        pc.count_distinct(there(INTS.cast(pa.int16()).view(pa.float16())))


def test_a_column_without_chunks_has_an_empty_dictionary():
    none = pa.chunked_array([], pa.dictionary(pa.int32(), pa.string()))
    found = _native._computing_in(cuda.Context(0), lambda: of("columns").dictionary_of(none))
    assert found.type == pa.string()
    assert len(found) == 0
