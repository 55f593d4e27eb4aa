"""Arrow arrays on a device are tensors themselves; those on the host stay pyarrow's own."""

import gc
import pickle

import numpy as np
import pyarrow as pa
import pytest

from pyarrow_cuda_compat import DeviceArray, _native, from_dlpack
from support.libraries.dlpack import CPU, CUDA, look

NUMBERS = [
    *(pa.int8(), pa.int16(), pa.int32(), pa.int64()),
    *(pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()),
    *(pa.float16(), pa.float32(), pa.float64()),
]


@pytest.mark.parametrize("kind", NUMBERS, ids=str)
def test_numbers(ctx, kind):
    host = np.arange(50).astype(pa.array([], kind).to_numpy().dtype)
    array = pa.array(host, kind).copy_to(ctx.memory_manager)
    address = array.buffers()[1].address
    for part, expected in (
        (array, host),
        (array.slice(7), host[7:]),
        (array.slice(7).slice(3, 20), host[10:30]),
        (array.slice(50), host[50:]),
    ):
        ours = from_dlpack(part)
        assert (ours.dtype, ours.shape) == (expected.dtype, expected.shape)
        assert ours.size == 0 or ours.address == address + part.offset * host.itemsize
        read = np.from_dlpack(part, device="cpu")
        assert read.dtype == host.dtype
        assert (read == expected).all()


def test_what_a_consumer_may_ask_for(ctx):
    array = pa.array([1, 2, 3]).copy_to(ctx.memory_manager)
    address = array.buffers()[1].address
    assert array.__dlpack_device__() == (CUDA, 0)
    # As pyarrow 25 and 26 have the method; a producer before DLPack 1.0 knows the stream alone.
    for arguments, options, name in [
        ((), {}, "dltensor"),
        ((1,), {}, "dltensor"),
        ((), {"stream": 2}, "dltensor"),
        ((), {"stream": 1, "max_version": (1, 0), "copy": False}, "dltensor_versioned"),
    ]:
        structure, found = look(array.__dlpack__(*arguments, **options))
        assert (found, structure.tensor.data) == (name, address)
    copied, _ = look(array.__dlpack__(max_version=(1, 0), dl_device=(CPU, 0)))
    assert (copied.tensor.device_type, copied.flags) == (CPU, 2)
    for wrong in ({"stream": 0}, {"dl_device": (CPU, 0), "copy": False}):
        with pytest.raises((ValueError, BufferError)):
            array.__dlpack__(**wrong)
    for arguments, options in [((1, 2), {}), ((1,), {"stream": 1}), ((), {"what": 1})]:
        with pytest.raises(TypeError):
            array.__dlpack__(*arguments, **options)


def test_on_another_device(other_ctx):
    array = pa.array([1, 2, 3]).copy_to(other_ctx.memory_manager)
    assert array.__dlpack_device__() == array.slice(3).__dlpack_device__() == (CUDA, 1)
    assert from_dlpack(array).context.device_number == 1


def test_values_on_another_device_than_their_bitmap(ctx, other_ctx):
    bitmap = pa.array([1, None]).copy_to(other_ctx.memory_manager).buffers()[0]
    values = pa.array([1, 2]).copy_to(ctx.memory_manager).buffers()[1]
    array = pa.Array.from_buffers(pa.int64(), 2, [bitmap, values])
    assert array.__dlpack_device__() == (CUDA, 0)


@pytest.mark.filterwarnings("ignore:Exporting an unversioned DLPack capsule")
def test_pinned_memory_is_memory_of_the_host(cuda, ctx):
    pinned = cuda.new_host_buffer(32)
    numbers = np.frombuffer(pinned, np.int64)
    array = pa.Array.from_buffers(pa.int64(), 3, [None, pinned], offset=1)
    assert array.__dlpack_device__() == (CPU, 0)
    read = np.from_dlpack(array)
    assert read.ctypes.data == numbers.ctypes.data + 8
    assert len(read) == 3
    bitmap = pa.Array.from_buffers(pa.int64(), 4, [pa.py_buffer(b"\5"), pinned])
    with pytest.raises(TypeError, match="null"):
        np.from_dlpack(bitmap)
    lists = pa.Array.from_buffers(pa.list_(pa.int64(), 3), 1, [None], children=[array])
    with pytest.raises((TypeError, NotImplementedError), match="DLPack"):
        np.from_dlpack(lists)


def test_lists_of_a_fixed_size_are_dimensions(ctx):
    host = np.arange(24, dtype=np.float32).reshape(4, 3, 2)
    lists = pa.array(host.tolist(), pa.list_(pa.list_(pa.float32(), 2), 3))
    tensors = pa.FixedShapeTensorArray.from_numpy_ndarray(host)
    for array in (lists, tensors):
        array = array.copy_to(ctx.memory_manager)
        assert (np.from_dlpack(array, device="cpu") == host).all()
        assert (np.from_dlpack(array.slice(1, 2), device="cpu") == host[1:3]).all()
        assert from_dlpack(array.slice(4)).shape == (0, 3, 2)


def permuted(stored, permutation, names=None):
    """Tensors whose type gives their dimensions another order than they are stored in."""
    kind = pa.fixed_shape_tensor(
        pa.from_numpy_dtype(stored.dtype), stored.shape[1:], names, permutation
    )
    rows = pa.array(stored.reshape(len(stored), -1).tolist(), kind.storage_type)
    return pa.ExtensionArray.from_storage(kind, rows)


STORED = np.arange(48, dtype=np.float32).reshape(2, 2, 3, 4)
PERMUTED = permuted(STORED, [2, 0, 1], ["a", "b", "c"])
#: Their elements, in the order that the type gives the dimensions.  Not `to_numpy_ndarray`, whose
#: strides are wrong if two dimensions do not just change places.
TENSORS = STORED.transpose(0, 3, 1, 2)

WAYS_TO_A_TENSOR = {
    "NumPy": lambda array: DeviceArray.from_host(np.from_dlpack(array, device="cpu")),
    "from_dlpack": from_dlpack,
    "DeviceArray": DeviceArray,
    "from_arrow": DeviceArray.from_arrow,
    "chunked": lambda array: DeviceArray(pa.chunked_array([array])),
    "values beside a mask": lambda array: DeviceArray.from_arrow(array, nulls="mask")[0],
    "mask": lambda array: DeviceArray.from_arrow(array, nulls="mask")[1],
    "filled": lambda array: DeviceArray.from_arrow(array, nulls="fill", fill=0),
}


@pytest.mark.parametrize("way", WAYS_TO_A_TENSOR)
def test_tensors_have_the_order_of_their_type_whichever_way_they_come(ctx, way):
    made = WAYS_TO_A_TENSOR[way](PERMUTED.copy_to(ctx))
    expected = np.zeros_like(TENSORS, bool) if way == "mask" else TENSORS
    assert made.copy_to_host().tolist() == expected.tolist()


@pytest.mark.parametrize("round_trip", [lambda it: it, lambda it: pickle.loads(pickle.dumps(it))])
def test_tensors_of_another_order_go_round(ctx, round_trip):
    for part, expected in ((PERMUTED, TENSORS), (PERMUTED[1:], TENSORS[1:])):
        array = round_trip(DeviceArray.from_arrow(part.copy_to(ctx)))
        assert array.copy_to_host().tolist() == expected.tolist()
        back = array.to_arrow()
        assert (back.type, array.arrow_type) == (PERMUTED.type, PERMUTED.type)
        assert back.copy_to("cpu").equals(part)


def test_tensors_that_lie_in_another_order_than_their_type_are_of_a_type_without_one(ctx):
    array = DeviceArray.from_arrow(PERMUTED.copy_to(ctx))
    square = DeviceArray.from_arrow(permuted(np.arange(4).reshape(1, 2, 2), [1, 0]))
    for tensors, names in ((array, ["c", "a", "b"]), (square, None)):
        dense = tensors.copy()
        found = dense.to_arrow()
        shape = list(tensors.shape[1:])
        value_type = tensors.arrow_type.value_type
        assert found.type == pa.fixed_shape_tensor(value_type, shape, dim_names=names)
        assert DeviceArray(found).copy_to_host().tolist() == tensors.copy_to_host().tolist()
        with pytest.raises(ValueError, match="pass a type without permutation"):
            dense.to_arrow(tensors.arrow_type)
    assert array[0].copy().to_arrow().copy_to("cpu").to_pylist() == TENSORS[0].tolist()


def test_columns_that_were_read_on_the_device(cuda, ctx):
    batch = pa.record_batch({"x": pa.array([1, 2, 3]), "y": pa.array([0.5, 1.5, 2.5])})
    message = cuda.serialize_record_batch(batch, ctx)
    there = cuda.read_record_batch(message, batch.schema)
    array = from_dlpack(there.column("y"))
    assert message.address < array.address < message.address + message.size
    del there, message
    gc.collect()
    assert array.copy_to_host().tolist() == [0.5, 1.5, 2.5]


def test_nulls_are_counted_where_a_bitmap_is(ctx):
    array = pa.array([1, None, 3, 4, None, *range(100)]).copy_to(ctx.memory_manager)
    named = r"DeviceArray.from_arrow\(array, nulls='fill', fill=...\) replaces them"
    for part, count in [
        (array, "2 of 105"),
        (array.slice(4, 3), "1 of 3"),
        (array.slice(3).slice(1, 1), "1 of 1"),
    ]:
        with pytest.raises(BufferError, match=rf"nulls \({count}\)") as raised:
            part.__dlpack__()
        raised.match(named)
        assert len(DeviceArray.from_arrow(part).values.copy_to_host()) == len(part)
    for part in (array.slice(2, 2), array.slice(5), array.slice(1, 0), array.slice(70, 8)):
        assert from_dlpack(part).shape == (len(part),)
    assert np.from_dlpack(array.slice(2, 2), device="cpu").tolist() == [3, 4]
    kind = pa.list_(pa.int8(), 2)
    for values, count in [([[1, 2], None], "1 of 2"), ([[1, 2], [3, None]], "1 of 4")]:
        with pytest.raises(BufferError, match=rf"nulls \({count}\)"):
            pa.array(values, kind).copy_to(ctx.memory_manager).__dlpack__()


AS_STORED = r"only integers and floating-point numbers: DeviceArray.from_arrow\(array\)"


@pytest.mark.parametrize(
    ("array", "text"),
    [
        (pa.array([1], pa.date32()), AS_STORED),
        (pa.array([1], pa.decimal128(5)), AS_STORED),
        (pa.array([[1]], pa.list_(pa.duration("s"), 1)), AS_STORED),
        (pa.array([{"x": 1}]), r"\.field\(name\)"),
        (pa.array(["a"]).dictionary_encode(), r"\.indices"),
    ],
    ids=lambda value: str(getattr(value, "type", "")),
)
def test_values_that_are_no_numbers(ctx, array, text):
    array = array.copy_to(ctx.memory_manager)
    with pytest.raises(BufferError, match=text):
        array.__dlpack__()
    if text == AS_STORED:
        assert DeviceArray.from_arrow(array).arrow_type == array.type


HOST = [
    pa.array([1, 2]),
    pa.array([1, None]),
    pa.array([], pa.float32()),
    pa.array([True]),
    pa.array(["text"]),
    pa.array([[1, 2]], pa.list_(pa.int8(), 2)),
    pa.FixedShapeTensorArray.from_numpy_ndarray(np.ones((2, 2, 2))),
    pa.nulls(2),
]


@pytest.mark.filterwarnings("ignore:Exporting an unversioned DLPack capsule")
@pytest.mark.parametrize("array", HOST, ids=lambda array: str(array.type))
@pytest.mark.parametrize(
    ("arguments", "options"),
    [
        ((), {}),
        ((None,), {}),
        ((), {"stream": None}),
        ((), {"stream": 1}),
        ((), {"max_version": (1, 0)}),
        ((), {"dl_device": (CUDA, 0)}),
    ],
    ids=repr,
)
def test_arrays_of_the_host_stay_as_they_are(array, arguments, options):
    def tensor(method):
        structure, name = look(method(array, *arguments, **options))
        return structure.tensor.data, structure.tensor.device_type, name

    def outcome(call, method):
        try:
            return call(method)
        except Exception as error:
            return type(error), str(error)

    kind = type(array)
    for call, guarded in (
        (tensor, kind.__dlpack__),
        (lambda method: method(array), kind.__dlpack_device__),
    ):
        assert outcome(call, guarded) == outcome(call, _native._unguarded(guarded))


#: Methods of pyarrow 26 that import host data by DLPack, and words of their refusals.
IMPORTERS = {
    "Array": r"DeviceArray\(data\)\.to_arrow\(\) takes",
    "Tensor": r"Tensor\.from_numpy takes the copy$",
    "FixedShapeTensorArray": r"CPU device\. \S+\.to_arrow\(pyarrow\.fixed_shape_tensor\(",
}


@pytest.mark.skipif(not hasattr(pa.Array, "from_dlpack"), reason="pyarrow 26 has it first")
@pytest.mark.parametrize("name", IMPORTERS)
def test_what_imports_host_memory_says_what_takes_memory_of_a_device(ctx, name):
    importer = getattr(pa, name)
    array = DeviceArray.from_host([[1, 2], [3, 4]] if name != "Array" else [1, 2])
    with pytest.raises(NotImplementedError, match=f"implemented only.*{IMPORTERS[name]}"):
        importer.from_dlpack(array)
    kind = pa.fixed_shape_tensor(pa.int64(), [2])
    there = array.to_arrow(kind if name != "Array" else None)
    assert there.copy_to("cpu").to_pylist() == array.copy_to_host().tolist()


def test_arrays_of_the_host_are_no_arrays_of_a_device():
    with pytest.raises(BufferError, match="host memory"):
        from_dlpack(pa.array([1, 2]))
    with pytest.raises(TypeError, match=r"DeviceArray.from_arrow copies it to a device"):
        DeviceArray(pa.array([1, 2]))
