"""Arrays of which a buffer is empty, wherever libarrow has put it, go out and come in."""

import copy
import gc
import pickle
from contextlib import suppress

import pyarrow as pa
import pytest
from pyarrow.cuda import BufferReader, CudaBuffer, read_record_batch, serialize_record_batch

from pyarrow_cuda_compat import DeviceArray, from_dlpack
from support.c_device import CPU as ON_CPU
from support.c_device import CUDA, CUDA_HOST, Exported, Made, exported_capsule, made_array
from support.samples import ALL, CPU, written
from support.streams import pinned_of


def forms_of(array):
    """All of it, a part, nothing, and as many nulls."""
    forms = {"all": array, "part": array.slice(1, 2), "none": array[:0]}
    # Some types have no nulls, and not every type can be made of them.
    try:
        forms["nulls"] = pa.nulls(3, array.type)
        forms["some nulls"] = forms["nulls"].slice(1)
    except pa.ArrowNotImplementedError:
        pass
    if pa.types.is_string(array.type) or pa.types.is_binary(array.type):
        forms["empty texts"] = pa.array(["", ""]).cast(array.type)
    return forms


#: Ways of a batch to the device.
WAYS = {
    "copied": lambda ctx, batch: batch.copy_to(ctx),
    "message": lambda ctx, batch: read_record_batch(
        serialize_record_batch(batch, ctx), batch.schema
    ),
    "stream": lambda ctx, batch: pa.ipc.open_stream(
        BufferReader(ctx.buffer_from_data(written([batch])))
    ).read_next_batch(),
    "imported": lambda ctx, batch: pa.record_batch(Exported(batch.copy_to(ctx))),
}


def check(data, expected):
    """Goes out and comes in, twice."""
    for _ in range(2):
        is_batch = isinstance(data, pa.RecordBatch)
        data = (pa.record_batch if is_batch else pa.array)(Exported(data))
        back = data.copy_to(CPU)
        back.validate(full=True)
        assert (back.column(0) if is_batch else back).equals(expected)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", ALL)
def test_every_form_goes_out_and_comes_in(ctx, name, way):
    if name == "dictionary" and way == "message":
        pytest.skip("a message by itself has no dictionaries")
    for form in forms_of(ALL[name]).values():
        numbers = pa.array(range(len(form)))
        host = pa.RecordBatch.from_arrays([form, numbers], ["a", "b"])
        batch = WAYS[way](ctx, host)
        # An extension type that nobody has registered comes back as what it is stored in.
        expected = form.storage if form.type.equals(ALL["extension"].type) else form
        table = pa.Table.from_batches([batch.slice(0)])
        for data in (batch, batch.column(0), table.column(0).chunk(0), *table.to_batches()):
            check(data, expected)
        check(batch.slice(1), expected.slice(1))
        check(batch.column(0).slice(1), expected.slice(1))


def test_what_is_nowhere_goes_out_as_of_the_device(ctx):
    """An array whose only other buffer is on the host and empty is the device's."""
    batch = WAYS["message"](ctx, pa.record_batch({"a": pa.nulls(2, pa.string())}))
    for data in (batch, batch.column(0)):
        with exported_capsule(data) as array:
            assert (array.device_type, array.device_id) == (CUDA, 0)
            text = array.array if data is not batch else array.array.children[0].contents
            assert (text.null_count, text.buffers[2]) == (2, None)
            assert all(ctx.get_device_address(text.buffers[n]) for n in (0, 1))


#: Types with offsets, their further buffers, and the types of their children.
WITH_OFFSETS = [
    (pa.string(), [pa.py_buffer(b"")], []),
    (pa.large_binary(), [pa.py_buffer(b"")], []),
    (pa.list_(pa.int8()), [], [pa.int8()]),
    (pa.large_list(pa.int8()), [], [pa.int8()]),
    (pa.map_(pa.int8(), pa.int8()), [], [pa.map_(pa.int8(), pa.int8()).field(0).type]),
]


@pytest.mark.parametrize(("kind", "rest", "children"), WITH_OFFSETS)
def test_offsets_of_nothing_are_there(ctx, kind, rest, children):
    """Writers may leave them out; consumers, libarrow among them, demand the first."""
    inner = [pa.array([], child) for child in children]
    expected = pa.array([], kind)
    for missing in (None, pa.py_buffer(b""), ctx.buffer_from_data(b"")):
        buffers = [None, missing, *rest]
        empty = pa.Array.from_buffers(kind, 0, buffers, null_count=0, children=inner)
        there = ctx.buffer_from_data(b"x")
        numbers = pa.Array.from_buffers(pa.int8(), 0, [None, there], null_count=0)
        batch = pa.RecordBatch.from_arrays([numbers, empty], ["numbers", "empty"])
        with exported_capsule(batch) as array:
            offsets = array.array.children[1].contents.buffers[1]
            assert ctx.get_device_address(offsets) == offsets
        back = pa.record_batch(Exported(batch))
        assert back.column(1).copy_to(CPU).equals(expected)
        # A batch that lies on the host alone stays there.
        if missing is None or missing.is_cpu:
            with exported_capsule(empty) as array:
                assert array.device_type == ON_CPU


#: An address of no memory, at which arrow-rs has all that is empty.
DANGLING = 0x40

BATCH = pa.schema({"n": pa.int32(), "s": pa.string(), "v": pa.string_view()})
#: Arrays without values, and their buffers beside a validity bitmap.
NOTHING = {
    "numbers": (pa.int64(), [DANGLING], []),
    "fixed binary": (pa.binary(4), [DANGLING], []),
    "text": (pa.string(), [DANGLING] * 2, []),
    "views": (pa.string_view(), [DANGLING] * 2, []),
    "list": (pa.large_list(pa.int8()), [DANGLING], [(0, [None, DANGLING])]),
    "list views": (pa.list_view(pa.int8()), [DANGLING] * 2, [(0, [DANGLING] * 2)]),
    "batch": (
        pa.struct(BATCH),
        [],
        [(0, [DANGLING] * 2), (0, [DANGLING] * 3), (0, [DANGLING] * 3)],
    ),
}
#: Functions of a context and an array there, whose results have its rows.
USES = {
    "copy_to the host": lambda ctx, array: array.copy_to(CPU),
    "copy_to the device": lambda ctx, array: array.copy_to(ctx),
    "export": lambda ctx, array: pa.array(Exported(array)),
    "slice": lambda ctx, array: array.slice(0),
    "pickle": lambda ctx, array: pickle.loads(pickle.dumps(array)),
    "deepcopy": lambda ctx, array: copy.deepcopy(array),
    "concat_arrays": lambda ctx, array: pa.concat_arrays([array, array]),
    "combine_chunks": lambda ctx, array: pa.chunked_array([array, array]).combine_chunks(),
    "message": lambda ctx, array: message_of(ctx, pa.record_batch([array], ["a"])).column(0),
    "stream": lambda ctx, array: pa.ipc.open_stream(
        written([pa.record_batch([array], ["a"])])
    ).read_all()["a"],
}


def message_of(ctx, batch):
    return read_record_batch(serialize_record_batch(batch, ctx), batch.schema)


def made_of_nothing(name, validity):
    kind, buffers, children = NOTHING[name]
    inner = [made_array(*child) for child in children]
    return Made(kind, made_array(0, [validity, *buffers], inner))


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("validity", [None, DANGLING])
@pytest.mark.parametrize("name", NOTHING)
def test_empty_buffers_may_be_at_addresses_of_no_memory(ctx, name, validity, use):
    made = made_of_nothing(name, validity)
    array = pa.array(made)
    there = USES[use](ctx, array)
    assert (len(there), there.type, there.null_count) == (0, array.type, 0)
    there.copy_to(CPU).validate(full=True)
    del array, there
    gc.collect()
    assert made.released == 1


@pytest.mark.parametrize("name", NOTHING)
def test_what_is_at_addresses_of_no_memory_is_shown(ctx, name):
    made = made_of_nothing(name, DANGLING)
    array = pa.array(made)
    assert "[]" in repr(array)
    with suppress(pa.ArrowTypeError):  # early releases count no bytes of views
        assert pa.array([], array.type).nbytes == array.nbytes
    for buffer in array.buffers():
        assert buffer is None or len(CudaBuffer.from_buffer(buffer).to_pybytes()) == buffer.size


def test_elements_at_addresses_of_no_memory_are_arrays(ctx):
    for name in ("numbers", "fixed binary"):
        made = made_of_nothing(name, None)
        assert DeviceArray(pa.array(made)).shape == (0,)
    assert from_dlpack(pa.array(made_of_nothing("numbers", None))).shape == (0,)
    assert ctx.foreign_buffer(DANGLING, 0).to_pybytes() == b""


def test_data_on_two_devices_is_still_refused(ctx, other_ctx):
    here, there = (pa.array([1]).copy_to(at.memory_manager) for at in (ctx, other_ctx))
    for other in (there, pa.array([1])):
        with pytest.raises(pa.ArrowInvalid, match=r"on (more than one|multiple) device"):
            pa.RecordBatch.from_arrays([here, other], ["a", "b"]).__arrow_c_device_array__()


def test_empty_buffers_of_pinned_arrays(cuda):
    pinned = pinned_of(cuda, bytes(8))
    data = pa.Array.from_buffers(pa.string(), 1, [None, pinned, pa.py_buffer(b"")], null_count=0)
    with exported_capsule(data) as array:
        assert (array.device_type, array.array.buffers[1]) == (CUDA_HOST, pinned.address)
    assert pa.array(Exported(data)).copy_to(CPU).to_pylist() == [""]
