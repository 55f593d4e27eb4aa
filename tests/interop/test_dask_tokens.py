"""The names by which Dask knows data on a device: equal data on one device has one name."""

import pyarrow as pa
import pytest

from pyarrow_cuda_compat import DeviceArray
from support.samples import ARRAYS, empty_of

pytest.importorskip("distributed")
from dask.base import tokenize

import pyarrow_cuda_compat.dask  # noqa: F401

pytestmark = pytest.mark.foreign


def test_buffers(contexts):
    first, second = contexts[0], contexts[-1]
    assert tokenize(first.buffer_from_data(b"abc")) == tokenize(first.buffer_from_data(b"abc"))
    different = [
        first.buffer_from_data(b"abc"),
        first.buffer_from_data(b"abd"),
        first.new_buffer(0),
        pa.py_buffer(b"abc"),
    ]
    if second is not first:
        different.append(second.buffer_from_data(b"abc"))
    assert len({tokenize(each) for each in different}) == len(different)


FORMS = {
    "array": lambda array: array,
    "chunks": lambda array: pa.chunked_array([array]),
    "batch": lambda array: pa.record_batch({"a": array}),
    "table": lambda array: pa.table({"a": array}),
}


@pytest.mark.parametrize("form", FORMS)
def test_arrays_and_tables(ctx, form):
    def token(array):
        return tokenize(FORMS[form](array).copy_to(ctx.memory_manager))

    # Dask's own name of nulls does not tell how many there are.
    for name in ARRAYS.keys() - {"null"}:
        array = ARRAYS[name]
        assert token(array) == token(array), name
        assert len({token(array), token(array.slice(1)), token(empty_of(array.type))}) == 3, name


def dictionary(values, indices=(0, 1), ordered=False):
    return pa.DictionaryArray.from_arrays(pa.array(indices), values, ordered=ordered)


def struct(values):
    return pa.StructArray.from_arrays([values], ["x"])


WORDS, OTHERS = pa.array(["a", "b"]), pa.array(["a", "c"])
BITS = pa.array([True, False, True, True])
SHAPES = [pa.fixed_shape_tensor(pa.int32(), shape) for shape in ([2, 3], [3, 2])]
TENSOR = pa.array([range(6)], pa.list_(pa.int32(), 6))
TYPE_IDS = pa.array([0, 0], pa.int8())
PLACES = pa.array([0, 1], pa.int32())
#: Arrays that differ in one thing, which the bytes of their own buffers may not tell.
DIFFERENT = {
    "values": [dictionary(WORDS), dictionary(OTHERS)],
    "order": [dictionary(WORDS), dictionary(WORDS, ordered=True)],
    "values of values": [dictionary(dictionary(WORDS)), dictionary(dictionary(OTHERS))],
    "values in a structure": [struct(dictionary(WORDS)), struct(dictionary(OTHERS))],
    "values in a list": [
        pa.ListArray.from_arrays(pa.array([0, 2], pa.int32()), dictionary(each))
        for each in (WORDS, OTHERS)
    ],
    "values in a list view": [
        pa.ListViewArray.from_arrays(PLACES, pa.array([1, 1], pa.int32()), dictionary(each))
        for each in (WORDS, OTHERS)
    ],
    "values in a union": [
        pa.UnionArray.from_dense(TYPE_IDS, PLACES, [dictionary(each)]) for each in (WORDS, OTHERS)
    ],
    "values in runs": [
        pa.RunEndEncodedArray.from_arrays(pa.array([1, 2], pa.int32()), dictionary(each))
        for each in (WORDS, OTHERS)
    ],
    "an offset within": [struct(BITS.slice(0, 3)), struct(BITS.slice(1, 3))],
    "an offset of values": [dictionary(BITS.slice(start, 2)) for start in (0, 1)],
    "a length within": [
        pa.FixedSizeListArray.from_arrays(BITS.slice(0, size), size) for size in (2, 3)
    ],
    "a name": [pa.StructArray.from_arrays([WORDS], [name]) for name in "xy"],
    "a parameter": [pa.ExtensionArray.from_storage(kind, TENSOR) for kind in SHAPES],
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", DIFFERENT)
def test_what_differs_within_arrays(ctx, form, name):
    tokens = [
        [tokenize(FORMS[form](each).copy_to(ctx.memory_manager)) for each in DIFFERENT[name]]
        for _ in range(2)
    ]
    assert tokens[0] == tokens[1]
    assert tokens[0][0] != tokens[0][1]


def test_parts_within_arrays_on_the_device(ctx):
    """A copy of an array may have no offsets."""
    bits = BITS.copy_to(ctx.memory_manager)
    parts = [struct(bits.slice(start, 3)) for start in (0, 1)]
    assert tokenize(parts[0]) != tokenize(parts[1])


def test_chunks_and_metadata(ctx):
    whole, parts = (
        pa.chunked_array(chunks).copy_to(ctx.memory_manager)
        for chunks in ([dictionary(WORDS)], [dictionary(WORDS, [0]), dictionary(OTHERS, [1])])
    )
    assert tokenize(whole) != tokenize(parts)
    table = pa.table({"a": whole})
    assert tokenize(table) != tokenize(table.replace_schema_metadata({"key": "value"}))


def test_counting_nulls_changes_no_token(ctx):
    array = pa.array([1, None, 3]).slice(1).copy_to(ctx.memory_manager)
    before = tokenize(array)
    assert array.null_count == 1
    assert tokenize(array) == before


def test_pinned_memory(cuda):
    pinned = cuda.new_host_buffer(16)
    array = pa.Array.from_buffers(pa.int64(), 2, [None, pinned])
    memoryview(pinned).cast("B")[:] = bytes(16)
    before = tokenize(array)
    assert tokenize(array) == before
    memoryview(pinned).cast("B")[:1] = b"1"
    assert tokenize(array) != before


def test_arrays_of_two_devices(contexts):
    tokens = [tokenize(pa.array([1, 2]).copy_to(each.memory_manager)) for each in contexts]
    tokens.append(tokenize(pa.array([1, 2])))
    assert len(set(tokens)) == len(tokens)


def test_device_arrays(ctx):
    one, same, other = (DeviceArray.from_host(values) for values in ([1, 2], [1, 2], [1, 3]))
    assert tokenize(one) == tokenize(same) != tokenize(other)


@pytest.mark.subprocesses
def test_a_client_takes_them(run_python):
    """In a process of its own: what earlier tests left may go while a client is at work."""
    code = """
import gc, time
import distributed
import pyarrow as pa
import pyarrow_cuda_compat.dask
from pyarrow import cuda
ctx = cuda.Context(0)
buffer = ctx.buffer_from_data(b"abc")
table = pa.table({"a": [1, None]}).copy_to(ctx.memory_manager)
with distributed.Client(processes=False, dashboard_address=":0", n_workers=1) as client:
    assert client.submit(lambda data: data.size, buffer).result(timeout=60) == 3
    assert client.gather(client.map(lambda data: data.size, [buffer])) == [3]
    assert client.submit(lambda data: data.num_rows, client.scatter(table)).result() == 2
del buffer, table
deadline = time.monotonic() + 60
while ctx.bytes_allocated and time.monotonic() < deadline:
    gc.collect()  # threads of the worker end in their own time
print(ctx.bytes_allocated)"""
    status, out, err = run_python(code)
    assert (status, out) == (0, "0\n"), err


@pytest.mark.parametrize("form", FORMS)
def test_arrays_of_nothing_but_nulls_differ_in_length(form):
    assert len({tokenize(FORMS[form](pa.nulls(count))) for count in (0, 1, 2)}) == 3
