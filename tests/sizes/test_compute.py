"""Functions of libcudf on data, and with results, beyond 2^31 bytes and rows.

Each has pyarrow's answer, in chunks where one array does not hold it, or refuses: by an error about
bytes, as pyarrow does, or as not implemented, with the way out.
"""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from .data import MOST, ROWS, WIDTH, WORDS, at, bits, buffer, down, ends, numbers, up, word, words

pytestmark = [
    pytest.mark.hardware,
    pytest.mark.alone,
    pytest.mark.large,
    pytest.mark.leaks,
    pytest.mark.unwatched,
    pytest.mark.usefixtures("libcudf"),
]
X = "x" * WIDTH


def too_long():
    text = "array cannot contain more than 2147483647 bytes"
    return pytest.raises(pa.ArrowInvalid, match=text)


def too_many():
    return pytest.raises(NotImplementedError, match="at most 2,147,483,647 rows")


def zeros(cupy, rows, kind="int32"):
    values = cupy.zeros(rows, kind)
    return pa.Array.from_buffers(pa.from_numpy_dtype(kind), rows, [None, buffer(values)], 0)


def true(cupy, rows):
    values = cupy.full(rows // 8 + 4, 255, cupy.uint8)
    return pa.Array.from_buffers(pa.bool_(), rows, [None, buffer(values)], 0)


def short(cupy):
    """One character in each row."""
    offsets = cupy.arange(WORDS + 1, dtype=cupy.int32)
    data = cupy.full(WORDS, ord("y"), cupy.uint8)
    return pa.Array.from_buffers(pa.string(), WORDS, [None, buffer(offsets), buffer(data)], 0)


def nothing(cupy, first=None):
    """Strings that are null, but for the first."""
    size = len(first or "")
    offsets = cupy.full(WORDS + 1, size, cupy.int32)
    offsets[0] = 0
    valid = cupy.zeros(WORDS // 8 + 4, cupy.uint8)
    valid[0] = size > 0
    data = buffer(cupy.full(max(size, 1), ord("x"), cupy.uint8))
    nulls = WORDS - (size > 0)
    return pa.Array.from_buffers(pa.string(), WORDS, [buffer(valid), buffer(offsets), data], nulls)


def pairs(cupy):
    offsets = cupy.arange(0, 2 * WORDS + 1, 2, dtype=cupy.int32)
    values = pa.concat_arrays([short(cupy), short(cupy)])
    return pa.ListArray.from_buffers(
        pa.list_(pa.string()), WORDS, [None, buffer(offsets)], 0, 0, [values]
    )


def conditions(cupy):
    mask = true(cupy, WORDS)
    kind = pa.struct({"a": pa.bool_()})
    return pa.StructArray.from_buffers(kind, WORDS, [None], 0, 0, [mask])


#: By function: an argument with rows, and what is called with it; each row becomes long.
GROWING = {
    "take": (lambda cupy: zeros(cupy, WORDS), lambda it: taken(it)),
    "if_else": (lambda cupy: true(cupy, WORDS), lambda it: pc.if_else(it, X, "y")),
    "case_when": (conditions, lambda it: pc.case_when(it, X, "y")),
    "coalesce": (nothing, lambda it: pc.coalesce(it, X)),
    "fill_null": (nothing, lambda it: pc.fill_null(it, X)),
    "fill_null_forward": (lambda cupy: nothing(cupy, X), pc.fill_null_forward),
    "binary_join_element_wise": (short, lambda it: pc.binary_join_element_wise(it, X, "-")),
    "binary_join": (pairs, lambda it: pc.binary_join(it, X)),
    "replace_substring": (short, lambda it: pc.replace_substring(it, "y", X)),
    "replace_substring_regex": (short, lambda it: pc.replace_substring_regex(it, "y", X)),
    "utf8_replace_slice": (short, lambda it: pc.utf8_replace_slice(it, 0, 1, X)),
    "utf8_lpad": (short, lambda it: pc.utf8_lpad(it, WIDTH, "x")),
    "utf8_rpad": (short, lambda it: pc.utf8_rpad(it, WIDTH, "x")),
    "ascii_lpad": (short, lambda it: pc.ascii_lpad(it, WIDTH, "x")),
    "ascii_rpad": (short, lambda it: pc.ascii_rpad(it, WIDTH, "x")),
}
ROW_OF = {
    "binary_join_element_wise": f"y-{X}",
    "binary_join": f"y{X}y",
    "utf8_lpad": "x" * (WIDTH - 1) + "y",
    "ascii_lpad": "x" * (WIDTH - 1) + "y",
    "utf8_rpad": "y" + "x" * (WIDTH - 1),
    "ascii_rpad": "y" + "x" * (WIDTH - 1),
}


def taken(rows):
    """One long string, as often as there are rows."""
    one = up(pa.array([X]))
    return (pa.chunked_array([one]) if isinstance(rows, pa.ChunkedArray) else one).take(rows)


def check_long(found, row, rows):
    """A chunked array of a string in each row, which functions read again."""
    assert isinstance(found, pa.ChunkedArray)
    assert found.num_chunks > 1
    assert found.type == pa.string()
    assert len(found) == rows
    cuts = np.cumsum([0, *map(len, found.chunks)])
    for place in {0, rows // 2, rows - 1, *(cuts[1:-1] - 1), *cuts[1:-1]}:
        assert at(found, int(place)) == [row]
    # Known as a result, and as chunks of somebody's.
    for again in (found, pa.chunked_array(found.chunks)):
        assert pc.sum(pc.binary_length(again)).as_py() == len(row) * rows


@pytest.mark.parametrize("name", GROWING)
def test_results_with_more_bytes_than_one_array_holds(cupy, name):
    make, call = GROWING[name]
    argument = make(cupy)
    with too_long():
        call(argument)
    check_long(call(pa.chunked_array([argument])), ROW_OF.get(name, X), len(argument))


@pytest.mark.parametrize(
    ("kind", "text"), [("int64", str(-(2**62))), ("bool", "false")], ids=["int64", "bool"]
)
def test_casts_to_strings(cupy, kind, text):
    rows = MOST // len(text) + 1_000_000
    if kind == "bool":
        array = bits(cupy, rows - rows % 8, ())
    else:
        values = cupy.full(rows, -(2**62), cupy.int64)
        array = pa.Array.from_buffers(pa.int64(), rows, [None, buffer(values)], 0)
    with too_long():
        array.cast(pa.string())
    check_long(pa.chunked_array([array]).cast(pa.string()), text, len(array))


def test_tables_and_what_has_strings_within(cupy):
    rows = zeros(cupy, WORDS)
    host = pa.table({"s": [X], "r": [{"s": X}], "l": [[X]], "n": [1]})
    table = up(host)
    found = table.take(rows)
    check_long(found["s"], X, WORDS)
    for name in "rl":
        assert at(found[name], WORDS - 1) == [host[name][0].as_py()]
        with too_long():
            table[name].chunk(0).take(rows)
    with too_long():
        table.to_batches()[0].take(rows)
    kept = found.filter(pc.field("n") > 0)
    check_long(kept["s"], X, WORDS)
    assert kept.filter(pc.field("n") > 1).num_rows == 0


@pytest.mark.parametrize("kind", ["inner", "left outer", "right outer", "full outer"])
def test_joins(cupy, kind):
    many = pa.table({"k": zeros(cupy, WORDS)})
    one = up(pa.table({"k": pa.array([0], pa.int32()), "s": [X]}))
    sides = (one, many) if kind == "right outer" else (many, one)
    check_long(sides[0].join(sides[1], "k", join_type=kind)["s"], X, WORDS)


def test_strings_at_the_limit(cupy):
    """Of exactly as many bytes as offsets of 32 bits count."""
    rows = MOST // WIDTH + 1
    strings = words(cupy, rows, bytes_=MOST)
    found = strings.take(pa.Array.from_buffers(pa.int32(), rows, [None, order(cupy, rows)], 0))
    assert found.type == pa.string()
    down(found).validate(full=True)
    for row in (0, rows // 2, rows - 2):
        assert at(found, row) == [word(row)]
    assert len(at(found, rows - 1)[0]) == MOST % WIDTH
    # One byte more.
    with too_long():
        pc.binary_join_element_wise(strings, up(pa.array([""] * (rows - 1) + ["x"])), "")


def order(cupy, rows):
    return buffer(cupy.arange(rows, dtype=cupy.int32))


@pytest.fixture
def chunks(cupy):
    """Three chunks, of which each has less than 2^31 bytes."""
    return pa.chunked_array([words(cupy, 900_000, start) for start in (0, 900_000, 1_800_000)])


TOTAL = 2_700_000


def test_chunks_with_more_bytes_than_one_array_holds(cupy, chunks):
    assert pc.sum(pc.utf8_length(chunks)).as_py() == TOTAL * WIDTH
    assert pc.count(chunks).as_py() == TOTAL
    assert pc.min_max(chunks).as_py() == {"min": "a" * WIDTH, "max": "z" * WIDTH}
    assert pc.count_distinct(chunks).as_py() == 26
    assert sorted(down(chunks.unique()).to_pylist()) == [word(row) for row in range(26)]
    counts = down(chunks.value_counts()).to_pylist()
    assert sum(it["counts"] for it in counts) == TOTAL
    assert down(chunks.take(up(pa.array([TOTAL - 1, 0])))).to_pylist() == [word(TOTAL - 1), word(0)]
    assert pc.sum(pc.equal(chunks, word(3))).as_py() == len(range(3, TOTAL, 26))
    assert pc.sum(pc.starts_with(chunks, "bb")).as_py() == len(range(1, TOTAL, 26))
    assert pc.sum(pc.is_in(chunks, value_set=pa.array([word(0)]))).as_py() == len(
        range(0, TOTAL, 26)
    )
    upper = pc.utf8_upper(chunks)
    assert at(upper, TOTAL - 1) == [word(TOTAL - 1).upper()]
    assert upper.num_chunks > 1
    assert at(chunks.take(pc.sort_indices(chunks)), 0) == ["a" * WIDTH]
    assert at(chunks.drop_null(), TOTAL - 1) == [word(TOTAL - 1)]
    indices = down(chunks.dictionary_encode().chunk(0).indices)
    assert pc.max(indices).as_py() == 25


def test_tables_of_such_chunks(cupy, chunks):
    values = cupy.arange(TOTAL, dtype=cupy.int64)
    array = pa.Array.from_buffers(pa.int64(), TOTAL, [None, buffer(values)], 0)
    table = pa.table({"s": chunks, "n": array})
    last = table.filter(pc.field("n") >= TOTAL - 2)
    assert down(last)["s"].to_pylist() == [word(TOTAL - 2), word(TOTAL - 1)]
    backwards = table.sort_by([("n", "descending")])
    for row in (0, TOTAL // 2, TOTAL - 1):
        assert at(backwards["s"], row) == [word(TOTAL - 1 - row)]
    groups = table.group_by("s").aggregate([("n", "count")])
    found = down(groups).to_pydict()
    assert sum(found["n_count"]) == TOTAL
    assert sorted(found["s"]) == [word(row) for row in range(26)]
    # As many groups as rows, each with its string.
    least = table.group_by("n").aggregate([("s", "min")]).sort_by("n")
    for row in (0, TOTAL // 2, TOTAL - 1):
        assert at(least["s_min"], row) == [word(row)]


BITS, TRUE = 2**32 + 64, (5, 2**31, 2**32 + 2)


def test_booleans_behind_many_others(cupy):
    flags = bits(cupy, BITS, TRUE)
    for row in TRUE:
        few = flags.slice(row - 1, 3)
        assert pc.sum(few).as_py() == 1
        assert down(pc.invert(few)).to_pylist() == [True, False, True]
        kind = pa.struct({"a": pa.bool_()})
        records = pa.StructArray.from_buffers(kind, BITS, [None], 0, 0, [flags]).slice(row - 1, 3)
        assert down(pc.is_null(records)).to_pylist() == [False] * 3
        assert down(records.take(up(pa.array([1, 0])))).to_pylist() == [{"a": True}, {"a": False}]
        assert down(few.take(up(pa.array([1, 0])))).to_pylist() == [True, False]
    turned = pc.invert(flags)
    assert len(turned) == BITS
    for row in TRUE:
        assert at(turned, row - 1, 3) == [True, False, True]
    with too_many():
        pc.sum(flags)


def test_decimals_behind_many_others(cupy):
    values = cupy.zeros((MOST + 101, 2), cupy.int64)
    values[MOST + 50, 0] = 150
    kind = pa.decimal128(10, 2)
    array = pa.Array.from_buffers(kind, MOST + 101, [None, buffer(values.ravel())], 0)
    few = array.slice(MOST + 49, 3)
    assert [float(it) for it in down(pc.add(few, few)).to_pylist()] == [0, 3, 0]
    assert down(pc.is_null(few)).to_pylist() == [False] * 3


def test_lists_behind_many_others(cupy):
    offsets = cupy.zeros(MOST + 102, cupy.int32)
    offsets[MOST + 51 :] = 2
    values = up(pa.array([7, 8]))
    kind = pa.list_(pa.int64())
    array = pa.Array.from_buffers(kind, MOST + 101, [None, buffer(offsets)], 0, 0, [values])
    few = array.slice(MOST + 49, 3)
    assert down(pc.list_value_length(few)).to_pylist() == [0, 2, 0]
    assert down(few.take(up(pa.array([1])))).to_pylist() == [[7, 8]]
    most = array.slice(0, MOST)  # one more than libcudf has of lists
    lengths = pc.list_value_length(most)
    assert (len(lengths), at(lengths, MOST - 1)) == (MOST, [0])
    with pytest.raises(NotImplementedError, match="at most 2,147,483,646 rows"):
        most.take(up(pa.array([0])))


def test_numbers_in_many_rows(cupy):
    array = numbers(cupy, ROWS)
    assert pc.sum(array.slice(MOST + 5, 3)).as_py() == sum(
        row % 256 for row in range(MOST + 5, MOST + 8)
    )
    more = pc.add(array, pa.scalar(1, pa.uint8()))
    for row in ends(ROWS):
        assert at(more, row) == [(row + 1) % 256]
    chunked = pa.chunked_array([array.slice(0, MOST), array.slice(MOST)])
    more = pc.greater(chunked, pa.scalar(128, pa.uint8()))
    assert len(more) == ROWS
    assert at(more, ROWS - 1) == [(ROWS - 1) % 256 > 128]
    wanted = up(pa.array([0]))
    for data in (array, chunked):
        for call in (
            pc.sum,
            pc.count,
            pc.min_max,
            pc.unique,
            pc.sort_indices,
            pc.cumulative_sum,
            lambda it: it.take(wanted),
            lambda it: it.filter(pc.greater(it, pa.scalar(254, pa.uint8()))),
            lambda it: pa.table({"a": it}).filter(pc.field("a") > 254),
            lambda it: pa.table({"a": it}).group_by("a").aggregate([("a", "count")]),
            lambda it: pa.table({"a": it}).sort_by("a"),
        ):
            with too_many():
                call(data)


def test_as_many_rows_as_libcudf_has(cupy):
    array = numbers(cupy, MOST)
    assert pc.count(array).as_py() == MOST
    assert pc.sum(array).as_py() == MOST // 256 * (255 * 128) + sum(range(MOST % 256))


def test_joins_with_too_many_rows(cupy):
    """65,536 rows of one key on both sides are 2^32 rows."""
    one = pa.table({"k": zeros(cupy, 65_536), "n": zeros(cupy, 65_536)})
    with pytest.raises(NotImplementedError, match="libcudf refuses this call"):
        one.join(one, "k", right_suffix="_r")
