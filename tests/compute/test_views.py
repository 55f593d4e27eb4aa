"""Arrays and tables on the device that are made of parts of others: equal to those on the host."""

import numpy as np
import pyarrow as pa
import pytest

from support.samples import ALL

from .conftest import back

pytestmark = [pytest.mark.simulator, pytest.mark.usefixtures("libcudf")]

STRUCTS = pa.array([{"a": 9, "b": "z"}, {"a": 1, "b": "x"}, None, {"a": None, "b": "y"}])
CHUNKS = pa.chunked_array([STRUCTS, STRUCTS.slice(1)])
ODD_NAMES = STRUCTS.cast(pa.struct([("x.y", pa.int64()), ("[0]", pa.string())]))
TABLE = pa.table(
    [CHUNKS, range(7), ["b"] * 7],
    schema=pa.schema(
        [
            pa.field("s", STRUCTS.type, metadata={"k": "v"}),
            pa.field("n", pa.int64(), nullable=False),
            pa.field("t", pa.string()),
        ],
        metadata={"of": "table"},
    ),
)
UNIONS = pa.table({"u": ALL["dense union"], "v": ALL["sparse union"]})
BOOLEANS = pa.array([True, False, None, True, True])


def same(found, expected):
    if isinstance(expected, list):
        return len(found) == len(expected) and all(map(same, found, expected))
    if isinstance(expected, int):
        return found == expected
    assert not found.is_cpu
    of_schema = found.schema if isinstance(expected, pa.Table | pa.RecordBatch) else found.type
    wanted = expected.schema if isinstance(expected, pa.Table | pa.RecordBatch) else expected.type
    found = back(found)
    found.validate(full=True)
    return of_schema.equals(wanted, check_metadata=True) and found.equals(expected)


@pytest.mark.parametrize(
    ("data", "method"),
    [
        (STRUCTS, lambda it: it.flatten()),
        (STRUCTS.slice(1, 1), lambda it: it.flatten()),
        (STRUCTS.slice(1), lambda it: it.flatten()),
        (ODD_NAMES, lambda it: it.flatten()),
        (CHUNKS, lambda it: it.flatten()),
        (TABLE["n"], lambda it: it.flatten()),
        (TABLE, lambda it: it.flatten()),
        (TABLE.slice(2), lambda it: it.flatten()),
        (UNIONS, lambda it: it.flatten()),
        (TABLE, lambda it: it.to_struct_array()),
        (TABLE, lambda it: it.to_struct_array(max_chunksize=2)),
        (TABLE.to_batches()[1], lambda it: it.to_struct_array()),
        (STRUCTS.slice(1), pa.RecordBatch.from_struct_array),
        (CHUNKS, pa.Table.from_struct_array),
        (TABLE, lambda it: it.cast(it.schema.set(2, pa.field("t", pa.large_string())))),
        (BOOLEANS, lambda it: it.true_count),
        (BOOLEANS.slice(1), lambda it: it.false_count),
        (BOOLEANS.slice(2, 1), lambda it: it.true_count),
        (pa.array([1, None, 3]).slice(1), lambda it: it.view("float64")),
        (pa.array(["a", None, "é"]).slice(1), lambda it: it.view(pa.binary())),
        (pa.array([b"12345678"], pa.binary(8)), lambda it: it.view(pa.timestamp("us", "UTC"))),
        (pa.array([1, 2, 3, 4]), lambda it: it[1:3]),
        (pa.array([1, 2, 3, 4]), lambda it: it[::-2]),
        (CHUNKS, lambda it: it[2:-1]),
        (CHUNKS, lambda it: it[5:1]),
    ],
)
def test_they_are_equal_to_those_on_the_host(there, data, method):
    assert same(method(there(data)), method(data))


@pytest.mark.parametrize("ordered", [False, True])
@pytest.mark.parametrize(
    "indices", [pa.array([1, None, 0], pa.uint8()), pa.array([7, 1, 0], pa.int32()).slice(1)]
)
def test_dictionary_arrays_are_made_of_device_data(there, indices, ordered):
    words = pa.array(["a", "b", None]).slice(0, 2)
    expected = pa.DictionaryArray.from_arrays(indices, words, ordered=ordered)
    for given in (there(indices), there(words)), (indices, there(words)), (there(indices), words):
        assert same(pa.DictionaryArray.from_arrays(*given, ordered=ordered), expected)
    assert same(
        pa.DictionaryArray.from_arrays(there(indices), ["a", "b"], ordered=ordered), expected
    )


def test_indices_of_pandas_may_be_negative(there):
    words, numbers = pa.array(["a", "b"]), np.array([-1, 1])
    found = pa.DictionaryArray.from_arrays(numbers, there(words), from_pandas=True)
    assert same(found, pa.DictionaryArray.from_arrays(numbers, words, from_pandas=True))


@pytest.mark.parametrize("indices", [[0, 2], [-1, 0], [1.5]])
def test_wrong_indices_raise_pyarrows_errors(there, indices):
    indices, words = pa.array(indices), pa.array(["a", "b"])
    with pytest.raises((pa.ArrowException, ValueError)) as expected:
        pa.DictionaryArray.from_arrays(indices, words)
    for given in (there(indices), there(words)), (indices, there(words)):
        with pytest.raises(expected.type, match=str(expected.value)):
            pa.DictionaryArray.from_arrays(*given)


@pytest.mark.parametrize("kind", [pa.int32(), pa.list_(pa.int8()), "nowhere"])
def test_views_of_other_layouts_raise_pyarrows_errors(there, kind):
    array = pa.array([1, 2])
    with pytest.raises((pa.ArrowException, ValueError)) as expected:
        array.view(kind)
    with pytest.raises(expected.type):
        there(array).view(kind)


def test_views_of_parts_are_refused(there):
    with pytest.raises(NotImplementedError, match=r"pyarrow\.Array\.view reads it"):
        there(STRUCTS).view(STRUCTS.type)


@pytest.mark.parametrize("data", [pa.array([1, 2]), pa.chunked_array([[1], [2]])])
def test_one_element_is_refused(there, data):
    with pytest.raises(NotImplementedError):
        there(data)[0]
    with pytest.raises(IndexError):
        there(data)[2]
    assert not there(data)[:1].is_cpu
    with pytest.raises(NotImplementedError):  # the check acts again
        there(data).to_pylist()
