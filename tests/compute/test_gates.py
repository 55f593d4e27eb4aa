"""What libcudf may be handed, and what may come back: a test for each rule of the two gates."""

import sys
from collections import namedtuple
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from pyarrow import cuda

import pyarrow_cuda_compat
from pyarrow_cuda_compat import CudaBuffer, _native
from pyarrow_cuda_compat._cudf import conversions, engine

from . import standin
from .conftest import back, of

pytestmark = [pytest.mark.simulator, pytest.mark.usefixtures("libcudf")]
ROWS = 2**31 - 1

# --- alignment ---------------------------------------------------------------------------------

ARRAYS = [
    pa.array([True, None, False] * 30),
    pa.array([1, None, 3], pa.int8()),
    pa.array([1, None, 3], pa.uint16()),
    pa.array([1, None, 3], pa.int32()),
    pa.array([1, None, 3]),
    pa.array([1, None, 3], pa.float32()),
    pa.array([1, None, 3], pa.decimal128(10, 2)),
    pa.array([1, None, 3], pa.date32()),
    pa.array([1, None, 3], pa.timestamp("us", "UTC")),
    pa.array([1, None, 3], pa.duration("ns")),
    pa.array(["a", None, "bc"]),
    pa.array([[1, None], None, [3]]),
    pa.array([["a", None], None, ["bc"]]),
    pa.array([[1], None], pa.list_(pa.decimal128(5))),
    pa.array([{"a": 1, "b": [True, None]}, None, {"a": None, "b": None}]),
    pa.array(["a", None, "a"]).dictionary_encode(),
    pa.array(["a", None, "bc"], pa.large_string()),
    pa.array([b"a", None, b"\xff"]),
    pa.array([1, None, 3], pa.time64("ns")),
    pa.array([b"a" * 16, None, b"b" * 16], pa.binary(16)),
    pa.array([["a", None], None, ["bc"]], pa.large_list(pa.large_binary())),
    pa.array([[b"a" * 8, None], [b"b" * 8] * 2], pa.list_(pa.binary(8), 2)),
]
VIEWS = pa.array(["a", None, "a longer word than fits"], pa.string_view())


def shifted(array, shift):
    """A copy on the device whose buffers all begin `shift` bytes after an aligned address."""

    def moved(buffer):
        if buffer is None:
            return None
        data = bytes(shift) + buffer.to_pybytes()
        return cuda.Context(0).buffer_from_data(data).slice(shift)

    kind = array.type
    if pa.types.is_dictionary(kind):
        indices, values = shifted(array.indices, shift), shifted(array.dictionary, shift)
        return pa.DictionaryArray.from_buffers(
            kind, len(array), indices.buffers(), values, array.null_count
        )
    buffers = array.buffers()
    own = [moved(it) for it in (buffers[: kind.num_buffers] if kind.num_fields else buffers)]
    children = None
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        children = [shifted(array.values, shift)]
    if pa.types.is_struct(kind):
        children = [shifted(array.field(place), shift) for place in range(kind.num_fields)]
    return pa.Array.from_buffers(kind, len(array), own, array.null_count, 0, children)


@pytest.mark.parametrize("shift", [1, 2, 4, 8])
@pytest.mark.parametrize("array", ARRAYS, ids=lambda it: str(it.type))
def test_every_buffer_is_aligned(array, shift):
    """The stand-in refuses other addresses, those within lists, structs and dictionaries, too."""
    data = shifted(array, shift)
    if pa.types.is_dictionary(array.type):
        assert back(pc.cast(data, pa.string())).equals(array.cast(pa.string()))
        return
    assert back(pc.is_null(data)).equals(pc.is_null(array))
    mask = pa.array([True] * len(array)).copy_to(0)
    assert back(pa.table({"a": data}).filter(mask))["a"].combine_chunks().equals(array)


@pytest.mark.parametrize("shift", [1, 4, 8])
def test_buffers_of_views_are_aligned(shift):
    data = shifted(VIEWS, shift)
    assert back(pc.cast(data, pa.string())).equals(VIEWS.cast(pa.string()))
    valid = pa.array(["a", "a longer word than fits"] * 2, VIEWS.type)
    with pytest.raises(NotImplementedError, match="not with views at such addresses"):
        pc.unique(shifted(valid, shift))


def test_copies_that_align_are_not_remembered():
    """The program may write to the memory that was copied, and filter the table again."""
    values = cuda.Context(0).buffer_from_data(b"....\x01\0\0\0\x05\0\0\0")
    table = pa.table({"a": pa.Array.from_buffers(pa.int32(), 2, [None, values.slice(4)])})
    assert values.address % 64 == 0
    wide = cuda.Context(0).buffer_from_data(b"." + bytes(8))
    table = table.append_column("b", pa.Array.from_buffers(pa.int32(), 2, [None, wide.slice(1)]))
    assert back(table.filter(pc.field("a") > 3))["b"].to_pylist() == [0]
    wide.copy_from_host(bytes([7] * 8), position=1)
    assert back(table.filter(pc.field("a") > 3))["b"].to_pylist() == [0x07070707]


def test_copies_without_bytes_are_not_remembered():
    """No address of an empty buffer tells its copy from the buffer itself."""
    data = cuda.Context(0).buffer_from_data(bytes(16))
    offsets, none = data.slice(4), cuda.Context(0).new_buffer(0)
    words = pa.Array.from_buffers(pa.string(), 2, [None, offsets, none], 0)
    shifted_words = pa.Array.from_buffers(pa.string(), 2, [None, data.slice(1, 12), none], 0)
    numbers = pa.array([1, 2]).copy_to(0)
    for given, is_copied in ((words, False), (shifted_words, True)):
        table = pa.table({"a": numbers, "s": given})
        assert back(table.filter(pc.field("a") > 1))["s"].to_pylist() == [""]
        assert (conversions.conversion_of(table) is None) is is_copied


# --- rows --------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def bits():
    """More booleans than libcudf has rows, in memory that is nearly all untouched."""
    number = 2**31 + 128
    buffer = cuda.Context(0).new_buffer(number // 8)
    buffer.slice(0, 64).fill(0)
    buffer.slice(2**28).copy_from_host(b"\x08" + bytes(15))
    return pa.Array.from_buffers(pa.bool_(), number, [None, buffer], 0)


def test_slices_behind_too_many_rows(bits):
    few = bits.slice(2**31 + 2, 3)
    assert back(pc.invert(few)).to_pylist() == [True, False, True]
    assert pc.sum(few).as_py() == 1
    records = pa.StructArray.from_buffers(pa.struct({"a": pa.bool_()}), 3, [None], 0, 0, [bits])
    assert back(pc.is_null(records)).to_pylist() == [False] * 3
    assert back(pc.struct_field(records, "a")).to_pylist() == [False] * 3


@pytest.mark.parametrize(
    "call",
    [
        pc.unique,
        lambda it: pa.chunked_array([it]).take(pa.array([1]).copy_to(0)),
        lambda it: pa.table({"a": it}).filter(pc.field("a")),
        lambda it: pa.table({"a": it}).group_by("a").aggregate([]),
        lambda it: pa.table({"a": it}).join(pa.table({"a": it.slice(0, 1)}), "a"),
        lambda it: pa.record_batch({"a": it}).drop_null(),
    ],
)
def test_more_rows_than_libcudf_has_are_refused(bits, call):
    with pytest.raises(
        NotImplementedError, match=r"at most 2,147,483,64[67] rows in such a column"
    ):
        call(bits)


def test_strings_have_one_row_less(there, monkeypatch):
    monkeypatch.setattr(of("dispatch"), "MOST_ROWS", 100)
    monkeypatch.setattr(of("dispatch"), "_ROWS_AT_ONCE", 64)
    for count in (99, 100, 101):
        words = pa.array(["a"] * count)
        assert back(pc.utf8_upper(there(words))).equals(pc.utf8_upper(words))
        assert [len(it) for it in pc.utf8_upper(there(pa.chunked_array([words]))).chunks] == (
            [count] if count == 99 else [64, count - 64]
        )


def test_more_rows_are_answered_one_part_after_the_other(there, monkeypatch):
    monkeypatch.setattr(of("dispatch"), "MOST_ROWS", 100)
    monkeypatch.setattr(of("dispatch"), "_ROWS_AT_ONCE", 64)
    values = pa.array([None, *range(1, 200)])
    expected = pc.add(values, 2)
    assert back(pc.add(there(values), 2)).equals(expected)
    chunks = there(pa.chunked_array([values[:70], values[70:]]))
    found = pc.add(chunks, values)
    assert isinstance(found, pa.ChunkedArray)
    assert [len(it) for it in found.chunks] == [64, 64, 64, 8]
    assert back(found).combine_chunks().equals(pc.add(values, values))
    assert "concatenate" not in standin.CALLS


def overflow(*_):
    raise pa.ArrowInvalid("offset overflow while concatenating arrays: as in the extension")


def test_chunks_with_more_bytes_than_one_array_holds(there, libcudf, monkeypatch):
    chunks = there(pa.chunked_array([["ab", None], ["c"]]))
    table = pa.table({"a": chunks, "k": there(pa.chunked_array([[1], [2, 3]]))})
    monkeypatch.setattr(_native, "_combine", overflow)
    assert back(pc.utf8_length(chunks)).to_pylist() == [2, None, 1]
    assert libcudf.count("concatenate") == 1
    assert back(table.filter(pc.field("k") > 1))["a"].to_pylist() == [None, "c"]
    with pytest.raises(NotImplementedError, match="not with so many bytes in several chunks"):
        pc.make_struct(chunks, field_names=["a"])


# --- contexts ----------------------------------------------------------------------------------


def test_memory_of_a_context_that_is_gone(there, driver):
    handle = driver.create_context()
    data = cuda.Context(0, handle).buffer_from_data(bytes(16))
    driver.destroy_context(handle)
    live = there(pa.array([1, 2]))
    for buffers in ([None, data], [data, live.buffers()[1]]):
        nulls = int(buffers[0] is not None)
        array = pa.Array.from_buffers(pa.int64(), 2, buffers, nulls)
        for given in (array, pa.chunked_array([live, array])):
            with pytest.raises(OSError, match="Cuda error 201"):
                pc.is_null(given)
        with pytest.raises(OSError, match="Cuda error 201"):
            pa.table({"a": array}).filter(pc.field("a") > 0)
    with pytest.raises(OSError, match="Cuda error 201"):
        pc.add(live, pa.Array.from_buffers(pa.int64(), 2, [None, data], 0))


def test_arguments_in_sequences_of_other_classes(there):
    array = there(pa.array([1, 2]))

    class Pair(list):
        pass

    add = pc.get_function("add")
    for given in (Pair([array, array]), namedtuple("Both", "x y")(array, array), iter([array] * 2)):
        assert back(add.call(given)).to_pylist() == [2, 4]


def test_a_list_that_changes_while_a_call_begins(there, other_ctx):
    here, elsewhere = there(pa.array([1, 2])), pa.array([10, 20]).copy_to(other_ctx)
    given = [here, here]

    def change(frame, event, _):
        if event == "call" and frame.f_code.co_name == "call":
            given[:] = [elsewhere, elsewhere]

    sys.setprofile(change)
    try:
        result = pc.get_function("add").call(given)
    finally:
        sys.setprofile(None)
    assert CudaBuffer.from_buffer(result.buffers()[1]).context.device_number == 0
    assert back(result).to_pylist() == [2, 4]


def test_without_an_engine_the_context_does_not_matter(driver, monkeypatch):
    _native._set_has_engine(False)
    monkeypatch.setattr(engine, "_found", "none here")
    handle = driver.create_context()
    data = cuda.Context(0, handle).buffer_from_data(bytes(16))
    driver.destroy_context(handle)
    array = pa.Array.from_buffers(pa.int64(), 2, [None, data], 0)
    for call in (
        lambda: pc.add(array, 1),
        lambda: pa.table({"a": array}).filter(pc.field("a") > 0),
    ):
        with pytest.raises(NotImplementedError, match="none here"):
            call()


@pytest.mark.subprocesses
def test_data_from_before_a_reset(run_python):
    code, out, err = run_python(
        """
import sys
sys.path.insert(0, sys.argv[1])
import pyarrow as pa, pyarrow.compute as pc
from pyarrow import cuda
from compute import standin
from pyarrow_cuda_compat import _native
from pyarrow_cuda_compat._cudf import engine, rmm_resource
engine._found = standin.install()
def share(context, ours):
    rmm_resource._shared[context.device_number] = context, ours
rmm_resource._set_resource = share
array = pa.array([1, 2]).copy_to(0)
result = pc.add(array, 1)
_native._reset_device(0)
for data in (array, result, pa.table({"a": array})):
    try:
        pc.drop_null(data)
        print("answered")
    except OSError as error:
        print(str(error)[:14])
print(pc.sum(pa.array([1, 2]).copy_to(0)))
""",
        str(Path(__file__).parents[1]),
    )
    assert code == 0, err
    assert out.split("\n") == [*["Cuda error 201"] * 3, "3", ""]


# --- errors ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (OverflowError, "value too large to convert to int32_t"),
        (RuntimeError, "Invalid input range, passed negative size"),
        (RuntimeError, "CUDF failure at: a check"),
        (TypeError, "unsupported type"),
        (ValueError, "out of range"),
        (IndexError, "index"),
        (ArithmeticError, "range"),
    ],
)
def test_errors_of_libcudf_are_refusals(there, monkeypatch, kind, text):
    monkeypatch.setattr(standin, "FAILURE", partial(kind, text))
    with pytest.raises(NotImplementedError, match=f"libcudf refuses this call: {text}"):
        pc.rank(there(pa.array([1, 2])))


@pytest.mark.parametrize("text", ["CUDA error at: cudaErrorIllegalAddress", "for_each: cudaErrorX"])
def test_errors_of_the_device_are_errors(there, monkeypatch, text):
    monkeypatch.setattr(standin, "FAILURE", partial(RuntimeError, text))
    with pytest.raises(OSError, match=text):
        pc.rank(there(pa.array([1, 2])))


def test_no_memory(there, monkeypatch):
    monkeypatch.setattr(standin, "FAILURE", partial(MemoryError, "std::bad_alloc"))
    with pytest.raises(pyarrow_cuda_compat.OutOfMemoryError, match="bad_alloc"):
        pc.rank(there(pa.array([1, 2])))


# --- results -----------------------------------------------------------------------------------


@pytest.fixture
def short(cudf, monkeypatch):
    """Strings get offsets of 64 bits from 7 bytes on, and those of 32 bits count up to 8."""
    monkeypatch.setattr(standin, "LONG", 7)
    monkeypatch.setattr(of("layouts"), "MOST_BYTES", 8)


WORDS = ["abc", None, "de", "fgh"]


def data_of(words):
    """One column of each form that has strings."""
    strings = pa.array(words)
    return {
        "strings": strings,
        "lists": pa.array([[each, None] for each in words], pa.list_(pa.string())),
        "structs": pa.StructArray.from_arrays([strings], ["a"]),
        "deep": pa.array(
            [[{"a": each}] for each in words], pa.list_(pa.struct({"a": pa.string()}))
        ),
    }


@pytest.mark.parametrize("form", data_of(WORDS))
def test_strings_that_fit_have_offsets_of_32_bits(there, short, form):
    data = data_of(WORDS)[form]
    rows = pa.array([*range(len(data))])
    found = there(data).take(there(rows))
    assert found.type == data.type
    back(found).validate(full=True)
    assert back(found).equals(data)
    batch = pa.record_batch({"a": data})
    assert back(there(batch).take(there(rows))).equals(batch)


@pytest.mark.parametrize("form", data_of(WORDS))
def test_longer_strings_are_chunks_or_an_error(there, short, form):
    data = data_of([*WORDS, "i"])[form]
    rows = there(pa.array([*range(len(data))]))
    batch = there(pa.record_batch({"a": data}))
    for call in (partial(there(data).take, rows), partial(batch.take, rows)):
        with pytest.raises(pa.ArrowInvalid, match="array cannot contain more than 8 bytes, have 9"):
            call()
    chunks = there(pa.chunked_array([data]))
    table = pa.table({"a": chunks, "n": rows})
    for found in (
        chunks.take(rows),
        table.take(rows)["a"],
        table.filter(pc.field("n") >= 0)["a"],
        table.take(rows).take(rows)["a"],  # a result, which is known
    ):
        assert found.num_chunks == 2
        back(found).validate(full=True)
        assert back(found).equals(pa.chunked_array([data]))


def test_a_part_of_an_argument_is_no_new_result(there):
    """The program may write to it."""
    lists = there(pa.array([[1, 2], [3]]))
    flat = pc.list_flatten(lists)
    assert back(flat).to_pylist() == [1, 2, 3]
    assert conversions.conversion_of(flat) is None
    assert conversions.conversion_of(pc.add(flat, 1)) is not None


def test_one_string_that_is_too_long(there, short):
    with pytest.raises(pa.ArrowInvalid, match="more than 8 bytes, have 9"):
        pc.utf8_upper(there(pa.chunked_array([["123456789"]])))


def test_results_of_another_type_are_refused(there, cudf):
    layouts, refusals = of("layouts"), of("refusals")
    column = standin.Column(pa.array([1, 2], pa.int32()))
    nested = standin.Column(pa.array([[1]], pa.list_(pa.int32())))
    for given, kind in (
        (column, pa.int64()),
        (column, pa.date32()),
        (column, pa.list_(pa.int32())),
        (column, pa.string()),
        (nested, pa.list_(pa.int64())),
        (nested, pa.struct({"a": pa.int32()})),
        (nested, pa.int32()),
    ):
        with pytest.raises(refusals.NotCovered, match="result is not of type"):
            layouts.conforming(given, kind)
    assert layouts.conforming(column, pa.int32()) is column


@pytest.mark.parametrize("nulls", [0, 7])
@pytest.mark.parametrize(
    ("name", "options"),
    [
        *((name, {}) for name in ("sum", "min", "max", "mean", "count", "min_max")),
        ("sum", {"skip_nulls": False}),
        ("mean", {"skip_nulls": False}),
        ("sum", {"min_count": 194}),
        ("mean", {"min_count": 201}),
        ("min_max", {"min_count": 201}),
        ("count", {"mode": "only_null"}),
        ("count", {"mode": "all"}),
    ],
)
def test_aggregates_of_more_rows_combine_those_of_parts(there, monkeypatch, name, options, nulls):
    monkeypatch.setattr(of("dispatch"), "MOST_ROWS", 100)
    monkeypatch.setattr(of("dispatch"), "_ROWS_AT_ONCE", 64)
    values = pa.array([*range(200 - nulls), *[None] * nulls], pa.int32())
    function = getattr(pc, name)
    expected = function(values, **options)
    found = function(there(pa.chunked_array([values[:90], values[90:]])), **options)
    assert found.equals(expected) or str(found) == str(expected)
    assert found.type == expected.type


@pytest.mark.parametrize("name", ["mean", "sum", "min_max", "first", "last", "any", "count"])
@pytest.mark.parametrize("place", [0, 64, 128])
def test_parts_may_have_only_nulls(there, monkeypatch, name, place):
    monkeypatch.setattr(of("dispatch"), "MOST_ROWS", 100)
    monkeypatch.setattr(of("dispatch"), "_ROWS_AT_ONCE", 64)
    plain = [it % 3 == 0 for it in range(192)] if name == "any" else [*range(192)]
    values = pa.array([*plain[:place], *[None] * 64, *plain[place + 64 :]])
    function = getattr(pc, name)
    for skip_nulls in (True, False):
        options = {} if name == "count" else {"skip_nulls": skip_nulls}
        assert function(there(values), **options).equals(function(values, **options))


def test_aggregates_that_parts_do_not_tell_are_refused(there, monkeypatch):
    for name in ("dispatch", "columns"):
        monkeypatch.setattr(of(name), "MOST_ROWS", 100)
    # As where a column has too many rows.
    monkeypatch.setattr(of("spans"), "columns_of", lambda arrays: [None for _ in arrays])
    values = there(pa.array(range(200)))
    with pytest.raises(NotImplementedError, match="at most 100 rows"):
        pc.count_distinct(values)
