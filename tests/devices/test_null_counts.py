"""Arrays on a device whose nulls nobody has counted pass through the C Device interface."""

import numpy as np
import pyarrow as pa
import pytest

from support.c_device import Made, exported_capsule, exported_structure, made_array
from support.samples import CPU

UNKNOWN = -1


COPIES = """
import pyarrow as pa, pyarrow_cuda_compat as cuda
from support.c_device import exported_capsule
from support.samples import ALL
there = cuda.Context(0).memory_manager
# Without what counts the nulls when it exports.
export = cuda._native._unguarded(pa.Array.__arrow_c_device_array__)
class Plain:
    def __init__(self, array):
        self.array = array
    def __arrow_c_device_array__(self):
        return export(self.array)
for name, array in ALL.items():
    for make in (lambda a: a.slice(1), lambda a: a.slice(1, 2), lambda a: a.slice(0, 0)):
        batch = pa.RecordBatch.from_arrays([array], ["a"])
        batch = batch.slice(0, 0) if len(make(array)) == 0 else batch.slice(1, len(make(array)))
        copies = [
            make(array).copy_to(there),
            make(array).copy_to(there.device),
            make(array.copy_to(there)).copy_to(there),
            batch.copy_to(there).column(0),
        ]
        assert pa.chunked_array(copies).num_chunks == len(copies)
        assert pa.table({"a": pa.chunked_array(copies)}).num_columns == 1
        assert pa.Table.from_batches([batch.copy_to(there)] * 2).num_columns == 1
        for copy in copies:
            with exported_capsule(Plain(copy)) as exported:
                assert exported.array.null_count == make(array).null_count, name
print("done")
"""


def test_copies_know_their_nulls(run_python):
    """pyarrow counts those of chunks when it puts them together."""
    assert run_python(COPIES) == (0, "done\n", "")


def test_copies_to_the_host_count_nothing(ctx):
    there = pa.array([1, None, 3]).copy_to(ctx.memory_manager).slice(1)
    assert there.copy_to(CPU).null_count == 1
    assert there.null_count == 1
    assert pa.array([1, None, 3]).slice(1).copy_to(CPU).null_count == 1


@pytest.mark.parametrize("length", [1, 7, 8, 9, 1000, (8 << 20) + 13, (16 << 20)])
def test_nulls_are_counted(ctx, length):
    flags = [n % 3 != 0 for n in range(24)]
    count = -(-length // 24)
    bitmap = ctx.buffer_from_data(np.packbits(flags, bitorder="little").tobytes() * count)
    values = ctx.buffer_from_data(bytes(24 * count))
    whole = pa.Array.from_buffers(pa.int8(), length, [bitmap, values])
    for start in {0, 1, length // 2, max(length - 9, 0), length}:
        part = whole.slice(start)
        expected = len(range(start + -start % 3, length, 3))
        for export in (exported_capsule, exported_structure):
            with export(part) as array:
                assert array.array.null_count == expected


def counts_of(array):
    children = [array.children[n].contents for n in range(array.n_children)]
    return [array.null_count, *map(counts_of, children)]


def test_nested_nulls_are_counted(ctx):
    array = pa.array([{"a": 1, "b": ["x"]}, None, {"a": None, "b": [None, "z"]}])
    there = array.copy_to(ctx.memory_manager)
    for start in range(4):
        with (
            exported_capsule(there.slice(start)) as exported,
            exported_capsule(array.slice(start)) as expected,
        ):
            assert counts_of(exported.array) == counts_of(expected.array)


def test_a_bitmap_that_is_not_there_yet_is_waited_for(ctx, producer):
    bitmap = ctx.buffer_from_data(b"\xff" * 13)
    values = ctx.buffer_from_data(bytes(100))
    array = made_array(100, [bitmap.address, values.address], null_count=UNKNOWN)
    made = Made(pa.field("a", pa.int8()), array, sync_event=producer.place)
    producer.fill_later(bitmap, 0)
    there = pa.array(made)
    assert not producer.is_done()
    with exported_capsule(there) as array:
        assert array.array.null_count == 100
    del there
    assert made.released == 1


def test_a_bitmap_that_is_too_short_is_refused(ctx):
    bitmap, values = ctx.buffer_from_data(b"\xff" * 12), ctx.buffer_from_data(bytes(200))
    made = Made(
        pa.field("a", pa.int8()),
        made_array(100, [bitmap.address, values.address], null_count=UNKNOWN),
    )
    array = pa.array(made)
    for part in (array, array.slice(97)):
        for data in (part, pa.RecordBatch.from_arrays([part], ["a"])):
            with pytest.raises(pa.ArrowInvalid, match="ends after 12 bytes, not 13"):
                data.__arrow_c_device_array__()
    with pytest.raises(pa.ArrowInvalid, match="too small"):
        pa.Array.from_buffers(pa.int8(), 100, [bitmap, values])
    del array, part, data
    assert made.released == 1


def test_batches_with_a_bitmap(ctx, producer):
    """A batch has no nulls of its own; whether a bitmap has any is counted."""
    bitmap, values = ctx.buffer_from_data(bytes(1)), ctx.buffer_from_data(bytes(4))
    column, schema = made_array(4, [None, values.address]), pa.schema([("a", pa.int8())])
    for byte, good in ((0xFF, True), (0x0F, True), (0x0E, False)):
        array = made_array(4, [bitmap.address], [column], null_count=UNKNOWN)
        made = Made(schema, array, sync_event=producer.place)
        producer.fill_later(bitmap, byte, 30)
        if good:
            assert pa.record_batch(made).copy_to(CPU).num_rows == 4
        else:
            with pytest.raises(pa.ArrowInvalid, match="non-zero null count"):
                pa.record_batch(made)
        assert made.released == 1
    array = made_array(2**63 - 1, [bitmap.address], [column], null_count=UNKNOWN, offset=1)
    made = Made(schema, array)
    with pytest.raises(pa.ArrowInvalid, match="impossible length"):
        pa.record_batch(made)
    assert made.released == 1


MAPS = """
import ctypes, itertools
import pyarrow as pa
from pyarrow_cuda_compat import Context
from support.c_device import CPU, CUDA, Made, made_array
from support.samples import CPU as HOST

ctx = Context(0)
kind = pa.map_(pa.int64(), pa.int64())
numbers = (ctypes.c_int64 * 8)(0, 1, 2, 3, 4, 5, 6, 7)
offsets = (ctypes.c_int32 * 3)(0, 1, 2)
bitmaps = {flags: (ctypes.c_uint8 * 8)(flags) for flags in (0b11, 0b01, 0b00)}
kept = {}

def place(device, data):
    if device == CPU:
        return ctypes.addressof(data)
    return kept.setdefault(ctypes.addressof(data), ctx.buffer_from_data(bytes(data))).address

def made(device, null_count, flags, of):
    here, ends = place(device, numbers), place(device, offsets)
    def part(name, buffers, *children):
        bitmap = place(device, bitmaps[flags]) if name == of else None
        count = null_count if name == of else 0
        return made_array(2, [bitmap, *buffers], children, null_count=count)
    keys, items = part("keys", [here]), part("items", [here])
    entries = part("entries", [], keys, items)
    return Made(kind, made_array(2, [None, ends], [entries]), device_type=device)

for device, null_count, flags, of in itertools.product(
    (CPU, CUDA), (-1, -2, 0, 1, 2), (0b11, 0b01, 0b00), ("keys", "entries")
):
    print(device, null_count, flags, of, flush=True)
    maps = made(device, null_count, flags, of)
    has_nulls = null_count > 0 or (null_count < 0 and flags != 0b11)
    try:
        array = pa.array(maps)
    except pa.ArrowInvalid:
        assert has_nulls
    else:
        assert not has_nulls
        array.validate()
        if flags == 0b11:
            assert array.copy_to(HOST).to_pylist() == [[(0, 0)], [(1, 1)]]
        del array
    assert maps.released == 1
"""


def test_maps_have_no_keys_that_are_null(run_python):
    """libarrow aborts on them, and counts on the host wherever they are."""
    code, out, err = run_python(MAPS)
    assert (code, err) == (0, ""), f"at {out.splitlines()[-1:]}"


def test_keys_that_are_not_there_yet_are_waited_for(ctx, producer):
    bitmap, offsets = ctx.buffer_from_data(b"\0"), ctx.buffer_from_data(bytes(12))
    values = ctx.buffer_from_data(bytes(16))
    keys = made_array(2, [bitmap.address, values.address], null_count=UNKNOWN)
    entries = made_array(2, [None], [keys, made_array(2, [None, values.address])])
    maps = made_array(2, [None, offsets.address], [entries])
    made = Made(pa.map_(pa.int64(), pa.int64()), maps, sync_event=producer.place)
    producer.fill_later(bitmap, 0xFF)
    assert len(pa.array(made)) == 2
    assert producer.is_done()
    assert made.released == 1


NULL_KEYS = """
import pyarrow as pa
import pyarrow_cuda_compat
from support.c_device import CPU, SCHEMA_NAME, ArrowSchema, Made, capsule, made_array

memory = pa.py_buffer(bytes(64))

class MapOf:
    def __init__(self, entries):
        pa.list_(entries)._export_to_c((schema := ArrowSchema()).address)
        schema.format = b"+m"
        self.schema = schema

    def __arrow_c_schema__(self):
        return capsule(self.schema.address, SCHEMA_NAME)

def leaf(count=2):
    return made_array(count, [None, memory.address])

# pyarrow describes no map whose keys are of type null, but other libraries may.
nothing = pa.struct([pa.field("key", pa.null()), pa.field("value", pa.int32())])
for length, null_count in ((2, 2), (2, 0), (2, -1), (0, 0), (0, -1)):
    print("null", length, null_count, flush=True)
    keys = made_array(length, [], null_count=null_count)
    entries = made_array(length, [None], [keys, leaf(length)])
    maps = Made(MapOf(nothing), made_array(0, [None, memory.address], [entries]),
                device_type=CPU, device_id=-1)
    try:
        assert len(pa.array(maps)) == 0
    except pa.ArrowInvalid as error:
        assert length > 0 and "a map has keys that are null" in str(error)
    else:
        assert length == 0

inner = [pa.field("a", pa.int32())]
union = [memory.address, memory.address]
for kind, buffers, children in (
    (pa.sparse_union(inner), union[:1], 1),
    (pa.dense_union(inner), union, 1),
    (pa.run_end_encoded(pa.int32(), pa.int32()), [], 2),
):
    print(kind, flush=True)
    keys = made_array(2, buffers, [leaf() for _ in range(children)], null_count=-1)
    entries = made_array(2, [None], [keys, leaf()])
    maps = Made(pa.map_(kind, pa.int32()), made_array(1, [None, memory.address], [entries]),
                device_type=CPU, device_id=-1)
    assert pa.array(maps).type.key_type == kind
"""


def test_keys_without_a_bitmap_are_looked_at_by_their_type(run_python):
    """All values of type null are null.  Unions and runs have no count of their own."""
    code, out, err = run_python(NULL_KEYS)
    assert (code, err) == (0, ""), f"at {out.splitlines()[-1:]}"
