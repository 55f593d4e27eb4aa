"""``flatten`` of data on a device: equal to the host's, with and without libcudf."""

import numpy as np
import pyarrow as pa
import pytest

from pyarrow_cuda_compat._cudf import engine
from support.samples import ALL

from .conftest import back

pytestmark = pytest.mark.simulator

NUMBERS = pa.array(range(40), pa.int16())
OFFSETS = np.arange(0, 41, 2)
NULLS = pa.array(np.arange(20) % 3 == 1)  # of lists that have values


def lists(kind, values, mask=None):
    return kind.from_arrays(pa.array(OFFSETS, pa.int64()).cast(OF[kind]), values, mask=mask)


def views(kind, values, mask=None):
    starts, sizes = (pa.array(it, OF[kind]) for it in (OFFSETS[:-1][::-1], np.arange(20) % 3))
    return kind.from_arrays(starts, sizes, values, mask=mask)


OF = {
    pa.ListArray: pa.int32(),
    pa.LargeListArray: pa.int64(),
    pa.ListViewArray: pa.int32(),
    pa.LargeListViewArray: pa.int64(),
}
FIXED = pa.FixedSizeListArray.from_arrays
LISTS = {
    "lists": lists(pa.ListArray, NUMBERS),
    "lists with nulls": lists(pa.ListArray, NUMBERS, NULLS),
    "large lists of large lists": lists(
        pa.LargeListArray, pa.concat_arrays([lists(pa.LargeListArray, NUMBERS, NULLS)] * 2), NULLS
    ),
    "fixed lists": FIXED(NUMBERS, 2),
    "fixed lists with nulls": FIXED(NUMBERS, 2, mask=NULLS),
    "fixed lists of none": pa.array([[], None] * 10, pa.list_(pa.int16(), 0)),
    "list views": views(pa.ListViewArray, NUMBERS),
    "list views with nulls": views(pa.ListViewArray, NUMBERS, NULLS),
    "large list views of lists": views(
        pa.LargeListViewArray, pa.concat_arrays([lists(pa.ListArray, NUMBERS, NULLS)] * 2)
    ),
    "lists of maps": lists(pa.ListArray, pa.array([[(1, 2)], None] * 20, pa.map_("i1", "i1"))),
    "all null": lists(pa.ListArray, NUMBERS, pa.array([True] * 20)),
}
PARTS = [(0, None), (3, 9), (7, 0), (19, 1)]


@pytest.fixture(params=["with libcudf", "without"])
def cudf_or_none(request, monkeypatch):
    if request.param == "without":
        monkeypatch.setattr(engine, "_found", "none here")
    else:
        request.getfixturevalue("libcudf")


def check(found, expected):
    for it, wanted in zip(found, expected, strict=True):
        assert it.type == wanted.type
        there = back(it)
        there.validate(full=True)
        if wanted.type == pa.null():
            assert len(there) == len(wanted)  # libarrow's equality asks for a bitmap's absence
        else:
            assert there.equals(wanted)


@pytest.mark.usefixtures("cudf_or_none")
@pytest.mark.parametrize("recursive", [False, True])
@pytest.mark.parametrize("name", LISTS)
def test_lists(there, name, recursive):
    for part in PARTS:
        here = LISTS[name].slice(*part)
        for given in (there(LISTS[name]).slice(*part), there(here)):
            found = given.flatten(recursive=recursive)
            assert not found.is_cpu or not len(found)
            check([found], [here.flatten(recursive=recursive)])


@pytest.mark.usefixtures("cudf_or_none")
@pytest.mark.parametrize("name", sorted(set(ALL) - {"dense union", "sparse union"}))
def test_structs(there, name):
    """A field is null where the struct is, whichever of them begins later."""
    field = pa.concat_arrays([ALL[name]] * 5)
    for shift in (0, 1, 8):
        inner, mask = field[shift:], np.arange(len(field) - shift) % 4 == 1
        struct = pa.StructArray.from_arrays([inner, inner], ["a", "b"], mask=pa.array(mask))
        if name == "run-end encoded":
            with pytest.raises(NotImplementedError, match="has no bitmap"):
                there(struct).flatten()
            continue
        for part in PARTS[:3]:
            check(there(struct).slice(*part).flatten(), struct.slice(*part).flatten())


@pytest.mark.usefixtures("cudf_or_none")
def test_fields_without_a_bitmap_are_refused_in_structs_with_nulls(there):
    """pyarrow itself aborts the process."""
    for name in ("dense union", "sparse union"):
        union = ALL[name]
        struct = pa.StructArray.from_arrays([union], ["a"], mask=pa.array([True] + [False] * 3))
        with pytest.raises(NotImplementedError, match=r"StructArray\.flatten .* has no bitmap"):
            there(struct).flatten()
        (found,) = there(pa.StructArray.from_arrays([union], ["a"])).flatten()
        check([found], [union])


@pytest.mark.usefixtures("cudf_or_none")
def test_chunks_tables_and_structs_as_batches(there):
    struct = pa.array([{"a": 9, "b": "z"}, None, {"a": None, "b": "y"}])
    chunks = pa.chunked_array([struct, struct.slice(1)])
    check(there(chunks).flatten(), chunks.flatten())
    table = pa.table({"s": chunks, "n": range(5)})
    found = there(table).flatten()
    assert back(found).equals(table.flatten())
    found = pa.RecordBatch.from_struct_array(there(struct))
    assert back(found).equals(pa.RecordBatch.from_struct_array(struct))


@pytest.mark.parametrize("kind", ["lists with nulls", "fixed lists with nulls", "list views"])
def test_many_parts_come_by_the_host(there, monkeypatch, kind):
    monkeypatch.setattr(engine, "_found", "none here")
    many = pa.concat_arrays([LISTS[kind]] * 20)
    check([there(many).flatten()], [many.flatten()])
    assert not there(many).flatten().is_cpu


def test_values_of_lists_without_nulls_are_not_copied(there):
    for name in ("lists", "fixed lists"):
        given = there(LISTS[name])
        found = given.slice(3, 9).flatten()
        assert found.buffers()[1].address == given.values.buffers()[1].address


def test_maps_are_refused_as_by_pyarrow(there):
    with pytest.raises(NotImplementedError):
        there(pa.array([[(1, 2)]], pa.map_("i1", "i1"))).flatten()


@pytest.mark.parametrize("nulls", [0, 1])
@pytest.mark.parametrize("ends", [[0, 5], [-2, 1], [2, 1]])
def test_offsets_that_lead_outside_are_errors(there, monkeypatch, ends, nulls):
    monkeypatch.setattr(engine, "_found", "none here")
    bits = there(pa.array([True, False])).buffers()[1] if nulls else None
    offsets = there(pa.array([*ends, ends[1]], pa.int32())).buffers()[1]
    values, kind = there(NUMBERS[:3]), pa.list_(NUMBERS.type)
    given = pa.ListArray.from_buffers(kind, 2, [bits, offsets], nulls, children=[values])
    with pytest.raises(pa.ArrowInvalid, match="lead outside their 3 values"):
        given.flatten()
