"""Device memory as DLPack tensors and by the CUDA array interface, out and in.

NumPy stands for the consumer where the tensor is copied to the host, and structures made here for
the producer; what other libraries make of it is tried in test_round_trips.py.
"""

import ctypes
import gc
import re
import sys
import threading

import numpy as np
import pyarrow as pa
import pytest
from work import NON_BLOCKING, Queue

from pyarrow_cuda_compat import DeviceTensor, from_dlpack, to_dlpack

CPU, CUDA, CUDA_HOST, MANAGED = 1, 2, 3, 13


# --- DLPack's structures, from its specification -----------------------------------------------


class Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Legacy(ctypes.Structure):
    _fields_ = [("tensor", Tensor), ("manager_ctx", ctypes.c_void_p), ("deleter", DELETER)]


class Versioned(ctypes.Structure):
    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("manager_ctx", ctypes.c_void_p),
        ("deleter", DELETER),
        ("flags", ctypes.c_uint64),
        ("tensor", Tensor),
    ]


FORMS = {"dltensor": Legacy, "dltensor_versioned": Versioned}
NAMES = {name: name.encode() for name in FORMS}  # a capsule does not copy its name

new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype = ctypes.py_object
new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
name_of = ctypes.pythonapi.PyCapsule_GetName
name_of.restype = ctypes.c_char_p
name_of.argtypes = [ctypes.py_object]
pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
pointer_of.restype = ctypes.c_void_p
pointer_of.argtypes = [ctypes.py_object, ctypes.c_char_p]


def look(capsule):
    """The structure in a capsule, which it keeps, and the capsule's name."""
    name = name_of(capsule)
    structure = FORMS[name.decode()].from_address(pointer_of(capsule, name))
    structure.capsule = capsule
    return structure, name.decode()


class Producer:
    """A tensor of another library, as wrong as one likes; counts calls of its deleter."""

    def __init__(self, address, shape=(10,), strides=None, form="dltensor_versioned", **fields):
        self.deleted = 0
        self.requests = []
        self.structure = FORMS[form]()
        if form == "dltensor_versioned":
            self.structure.major, self.structure.minor = fields.pop("version", (1, 1))
            self.structure.flags = fields.pop("flags", 0)
        self.keep = DELETER(self.delete)
        self.structure.deleter = self.keep
        tensor = self.structure.tensor
        tensor.data, tensor.device_type, tensor.device_id = address, CUDA, 0
        tensor.code, tensor.bits, tensor.lanes = 1, 8, 1
        tensor.ndim = len(shape)
        self.shape = (ctypes.c_int64 * len(shape))(*shape)
        tensor.shape = self.shape
        if strides is not None:
            self.strides = (ctypes.c_int64 * len(shape))(*strides)
            tensor.strides = self.strides
        for name, value in fields.items():
            setattr(tensor, name, value)
        self.form = form

    def delete(self, _pointer):
        self.deleted += 1

    def capsule(self):
        return new_capsule(ctypes.addressof(self.structure), NAMES[self.form], None)

    def __dlpack_device__(self):
        return self.structure.tensor.device_type, self.structure.tensor.device_id

    def __dlpack__(self, **request):
        self.requests.append(request)
        return self.capsule()


@pytest.fixture
def memory(ctx):
    return ctx.buffer_from_data(bytes(range(100)))


@pytest.fixture
def default_stream(ctx, driver):
    before = driver.current()
    driver.set_current(ctx.handle)
    yield Queue(driver)
    ctx.synchronize()
    driver.set_current(before)


# --- out ---------------------------------------------------------------------------------------


def test_the_array_interface_of_a_buffer(ctx, memory):
    part = memory.slice(10, 20)
    assert part.__cuda_array_interface__ == {
        "shape": (20,),
        "typestr": "|u1",
        "data": (memory.address + 10, False),
        "version": 3,
        "strides": None,
        "mask": None,
        "stream": None,
    }
    assert ctx.new_buffer(0).__cuda_array_interface__["data"] == (0, False)
    again = ctx.buffer_from_object(DeviceTensor(part, "<i4", (5,)))
    assert (again.address, again.to_pybytes()) == (part.address, part.to_pybytes())


def test_what_is_read_only_says_so(ctx, memory):
    class ReadOnly:
        __cuda_array_interface__ = memory.__cuda_array_interface__ | {
            "data": (memory.address, True)
        }

    view = ctx.buffer_from_object(ReadOnly())
    assert view.__cuda_array_interface__["data"] == (memory.address, True)
    structure, _ = look(view.__dlpack__(max_version=(1, 0)))
    assert structure.flags == 1
    with pytest.raises(BufferError, match="read-only"):
        view.__dlpack__()
    assert not from_dlpack(view).is_mutable
    copied, _ = look(view.__dlpack__(copy=True))
    assert copied.tensor.data != memory.address


def test_the_array_interface_waits_for_queued_work(ctx, default_stream):
    buf = ctx.new_buffer(100)
    default_stream.sleep()
    # Consumers may ignore the stream.
    assert buf.__cuda_array_interface__["stream"] is None
    assert default_stream.is_idle()


@pytest.mark.parametrize(
    ("request_", "name"),
    [
        ({}, "dltensor"),
        ({"max_version": None}, "dltensor"),
        ({"max_version": (0, 8)}, "dltensor"),
        ({"max_version": (1, 0)}, "dltensor_versioned"),
        ({"max_version": (1, 3)}, "dltensor_versioned"),
        ({"max_version": (2, 0)}, "dltensor_versioned"),
    ],
    ids=repr,
)
def test_the_consumer_says_which_form_it_knows(memory, request_, name):
    capsule = memory.slice(3, 7).__dlpack__(**request_)
    structure, found = look(capsule)
    assert found == name
    tensor = structure.tensor
    assert (tensor.data, tensor.byte_offset) == (memory.address + 3, 0)
    assert (tensor.device_type, tensor.device_id) == (CUDA, 0) == memory.__dlpack_device__()
    assert (tensor.code, tensor.bits, tensor.lanes) == (1, 8, 1)
    assert (tensor.ndim, tensor.shape[0], tensor.strides[0]) == (1, 7, 1)
    if name == "dltensor_versioned":
        assert (structure.major, structure.flags) == (1, 0)


@pytest.mark.parametrize("stream", [None, -1, 1, 2, 2**40, 12345])
def test_streams_that_may_wait(memory, stream):
    # A handle is not touched: a wrong one would crash the driver.
    structure, _ = look(memory.__dlpack__(stream=stream))
    assert structure.tensor.data == memory.address


@pytest.mark.parametrize("stream", [0, -2, -(2**40)])
def test_streams_that_do_not_exist(memory, stream):
    with pytest.raises(ValueError, match="stream"):
        memory.__dlpack__(stream=stream)


@pytest.mark.parametrize(
    ("stream", "waits"), [(None, False), (-1, False), (1, False), (2, False), (2**40, True)]
)
def test_another_stream_has_to_wait_for_queued_work(memory, default_stream, stream, waits):
    default_stream.sleep()
    memory.__dlpack__(stream=stream)
    assert default_stream.is_idle() == waits


def test_work_on_streams_that_an_array_names_is_waited_for(ctx, memory, default_stream):
    said = [{"stream": 1}, {"stream": 2}, {"stream": 2**40}]
    # What comes from older versions may be pending on any stream.
    said += [{"version": 2}, {"version": None}, {"version": "x"}]
    for changed in said:

        class Theirs:
            __cuda_array_interface__ = memory.__cuda_array_interface__ | changed

        default_stream.sleep()
        assert ctx.buffer_from_object(Theirs()).address == memory.address
        assert default_stream.is_idle(), changed


def test_arrays_that_are_not_there_yet_are_waited_for(ctx, memory):
    class Theirs:
        """As JAX's, which is computed on another thread."""

        is_ready = False

        @property
        def __cuda_array_interface__(self):
            return memory.__cuda_array_interface__

        def block_until_ready(self):
            self.is_ready = True

    theirs = Theirs()
    assert ctx.buffer_from_object(theirs).address == memory.address
    assert theirs.is_ready


def test_work_that_no_array_names_is_not_waited_for(ctx, memory, default_stream):
    class Theirs:
        __cuda_array_interface__ = memory.__cuda_array_interface__

    default_stream.sleep()
    ctx.buffer_from_object(Theirs())
    assert not default_stream.is_idle()


def test_copies_see_queued_work(memory, default_stream):
    default_stream.sleep()
    default_stream.fill(memory, 7)
    copied = from_dlpack(memory.__dlpack__(copy=True, stream=-1))
    assert copied.to_pybytes() == b"\x07" * 100
    default_stream.sleep()
    default_stream.fill(memory, 8)
    assert (np.from_dlpack(memory, device="cpu") == 8).all()


@pytest.mark.parametrize(
    ("request_", "error"),
    [
        ({"dl_device": (CPU, 0), "copy": False}, BufferError),
        ({"dl_device": (CUDA_HOST, 0)}, BufferError),
        ({"dl_device": (4, 0)}, BufferError),
        ({"dl_device": (CUDA, -1)}, ValueError),
        ({"dl_device": (CUDA, 99)}, OSError),
        ({"dl_device": (CUDA, 99), "copy": False}, BufferError),
        ({"dl_device": 2}, TypeError),
        ({"dl_device": (2,)}, ValueError),
        ({"max_version": 1}, TypeError),
        ({"max_version": (1,)}, ValueError),
        ({"max_version": "11"}, TypeError),
        ({"stream": "x"}, TypeError),
        ({"stream": 1.5}, TypeError),
        ({"stream": 2**64}, OverflowError),
        ({"copy": 5}, TypeError),
        ({"what": 1}, TypeError),
    ],
    ids=repr,
)
def test_requests_that_cannot_be_met(ctx, memory, request_, error):
    before = ctx.bytes_allocated
    with pytest.raises(error) as raised:
        memory.__dlpack__(**request_)
    assert str(raised.value)
    assert ctx.bytes_allocated == before


def test_positional_arguments_are_not_taken(memory):
    with pytest.raises(TypeError):
        memory.__dlpack__(1)


def test_a_copy_is_the_consumers_own(ctx, memory):
    before = ctx.bytes_allocated
    capsule = memory.__dlpack__(copy=True, max_version=(1, 0))
    structure, _ = look(capsule)
    assert structure.tensor.data != memory.address
    assert structure.flags == 2
    assert ctx.bytes_allocated == before + 100
    copied = from_dlpack(capsule)
    memory.copy_from_host(b"changed")
    assert copied.to_pybytes() == bytes(range(100))
    del capsule, copied
    gc.collect()
    assert ctx.bytes_allocated == before


def test_a_copy_on_another_device(memory, other_ctx):
    capsule = memory.__dlpack__(dl_device=(CUDA, 1))
    assert look(capsule)[0].tensor.device_id == 1
    copied = from_dlpack(capsule)
    assert copied.context.device_number == 1
    assert copied.to_pybytes() == bytes(range(100))
    with pytest.raises(BufferError, match="without a copy"):
        memory.__dlpack__(dl_device=(CUDA, 1), copy=False)
    assert other_ctx.new_buffer(5).__dlpack_device__() == (CUDA, 1)


@pytest.mark.parametrize("size", [0, 1, 63, 64, 65, 100_000])
def test_a_copy_on_the_host(ctx, size):
    data = np.arange(size).astype(np.uint8)
    buf = ctx.buffer_from_data(data)
    read = np.from_dlpack(buf, device="cpu")
    assert read.dtype == np.uint8
    assert (read == data).all()
    structure, _ = look(buf.__dlpack__(dl_device=(CPU, 0), max_version=(1, 0)))
    assert (structure.tensor.device_type, structure.flags) == (CPU, 2)
    with pytest.raises((BufferError, ValueError)):
        np.from_dlpack(buf, device="cpu", copy=False)


def test_the_memory_goes_with_whoever_has_it_last(ctx):
    before = ctx.bytes_allocated
    for max_version in (None, (1, 0)):
        capsule = ctx.new_buffer(1000).__dlpack__(max_version=max_version)
        gc.collect()
        assert ctx.bytes_allocated == before + 1000
        view = from_dlpack(capsule)
        del capsule
        part = view.slice(10, 20)
        del view
        gc.collect()
        assert ctx.bytes_allocated == before + 1000
        del part
        gc.collect()
        assert ctx.bytes_allocated == before
        untaken = ctx.new_buffer(1000).__dlpack__(max_version=max_version)
        del untaken
        assert ctx.bytes_allocated == before


@pytest.mark.parametrize("form", FORMS)
def test_the_deleter_may_be_called_on_any_thread(ctx, form):
    before = ctx.bytes_allocated
    capsule = ctx.new_buffer(1000).__dlpack__(max_version=(1, 0) if len(form) > 8 else None)
    structure, name = look(capsule)
    assert name == form
    ctypes.pythonapi.PyCapsule_SetName.argtypes = [ctypes.py_object, ctypes.c_char_p]
    ctypes.pythonapi.PyCapsule_SetName(capsule, b"used_" + form.encode())
    # ctypes gives the GIL up around the call, as a library's own thread never had it.
    deleter = ctypes.cast(structure.deleter, DELETER)
    address = ctypes.addressof(structure)
    thread = threading.Thread(target=deleter, args=(address,))
    thread.start()
    thread.join()
    assert ctx.bytes_allocated == before


def test_nothing_is_said_when_the_interpreter_ends(run_python):
    code = """
from pyarrow import cuda
from pyarrow_cuda_compat import from_dlpack
ctx = cuda.Context(0)
untaken = ctx.new_buffer(10).__dlpack__(max_version=(1, 0))
taken = from_dlpack(ctx.new_buffer(10))
cycle = [from_dlpack(ctx.new_buffer(10))]
cycle.append(cycle)
"""
    assert run_python(code) == (0, "", "")


# --- tensors -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("typestr", "code", "bits"),
    [
        *[(f"<i{size}", 0, 8 * size) for size in (2, 4, 8)],
        *[(f"<u{size}", 1, 8 * size) for size in (2, 4, 8)],
        *[(f"<f{size}", 2, 8 * size) for size in (2, 4, 8)],
        ("|u1", 1, 8),
        ("|i1", 0, 8),
    ],
)
def test_types_of_elements(memory, typestr, code, bits):
    tensor = DeviceTensor(memory, typestr, (3,))
    assert (tensor.typestr, tensor.shape) == (typestr, (3,))
    structure, _ = look(tensor.__dlpack__())
    seen = structure.tensor
    assert (seen.code, seen.bits, seen.lanes) == (code, bits, 1)
    read = np.from_dlpack(tensor, device="cpu")
    expected = np.frombuffer(bytes(range(100)), np.dtype(typestr), 3)
    assert read.tobytes() == expected.tobytes()
    assert read.dtype == expected.dtype


@pytest.mark.parametrize(("given", "typestr"), [("i1", "|i1"), ("=f8", "<f8"), ("u2", "<u2")])
def test_a_typestr_is_written_in_one_way(memory, given, typestr):
    tensor = DeviceTensor(memory, given, (3,))
    assert tensor.typestr == tensor.__cuda_array_interface__["typestr"] == typestr


@pytest.mark.parametrize("typestr", ["", "<", "x4", ">i4", "<i3", "<f1", "<c8", "|b1", "i", "|V8"])
def test_what_is_no_type_of_elements(memory, typestr):
    with pytest.raises(ValueError, match=re.escape(f"type {typestr!r}: pass the typestr")):
        DeviceTensor(memory, typestr, (1,))


@pytest.mark.parametrize(
    "dtype", [np.dtype("f4"), np.dtype("=f4"), np.float32, np.zeros(1, "f4").dtype], ids=repr
)
def test_a_dtype_names_the_elements(memory, dtype):
    tensor = DeviceTensor(memory, dtype, (2, 3))
    assert (tensor.typestr, tensor.shape) == ("<f4", (2, 3))
    assert np.from_dlpack(tensor, device="cpu").dtype == np.float32


@pytest.mark.parametrize(
    "dtype",
    [np.dtype(">f4"), np.dtype("c8"), np.dtype(bool), np.dtype("M8[ns]"), np.dtype("S3"), None],
    ids=repr,
)
def test_dtypes_that_a_tensor_cannot_have(memory, dtype):
    with pytest.raises(ValueError, match="pass the typestr or dtype of integers or") as raised:
        DeviceTensor(memory, dtype, (1,))
    assert repr(dtype) in str(raised.value)


def test_what_numpy_takes_for_no_dtype(memory):
    with pytest.raises(TypeError):
        DeviceTensor(memory, 5, (1,))
    with pytest.raises(ValueError, match="cannot have Python objects as elements"):
        DeviceTensor(memory, object, (1,))


def test_shapes(memory):
    tensor = DeviceTensor(memory, "<i2", (2, 3, 4))
    structure, _ = look(tensor.__dlpack__())
    seen = structure.tensor
    assert seen.ndim == 3
    assert seen.shape[:3] == [2, 3, 4]
    assert seen.strides[:3] == [12, 4, 1]
    assert tensor.__cuda_array_interface__["shape"] == (2, 3, 4)
    expected = np.frombuffer(bytes(range(48)), np.int16).reshape(2, 3, 4)
    assert (np.from_dlpack(tensor, device="cpu") == expected).all()
    scalar = DeviceTensor(memory, "<i2", ())
    assert np.from_dlpack(scalar, device="cpu") == 0x100
    assert DeviceTensor(memory, "<i8", (0, 2**62)).__cuda_array_interface__["shape"] == (0, 2**62)
    assert repr(scalar) == (
        f"<pyarrow_cuda_compat.DeviceTensor address={memory.address:#x} typestr='<i2' shape=()>"
    )


@pytest.mark.parametrize(
    ("shape", "error"),
    [
        ((101,), ValueError),
        ((-1,), ValueError),
        ((2**62, 2**62), ValueError),
        ((2**63,), OverflowError),
        (5, TypeError),
        ("ab", TypeError),
        ((1.5,), TypeError),
        (None, TypeError),
    ],
    ids=repr,
)
def test_shapes_that_cannot_be(memory, shape, error):
    with pytest.raises(error):
        DeviceTensor(memory, "|u1", shape)


@pytest.mark.parametrize("wrong", [None, b"bytes", 5, pa.py_buffer(b"host")], ids=repr)
def test_a_tensor_is_of_device_memory(wrong):
    with pytest.raises(TypeError, match="CudaBuffer"):
        DeviceTensor(wrong, "|u1", (1,))


# --- Arrow arrays ------------------------------------------------------------------------------

TYPES = [
    *(pa.int8(), pa.int16(), pa.int32(), pa.int64()),
    *(pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()),
    *(pa.float16(), pa.float32(), pa.float64()),
]


@pytest.mark.parametrize("kind", TYPES, ids=str)
def test_numbers_of_arrow(ctx, kind):
    host = np.arange(50).astype(pa.array([], kind).to_numpy().dtype)
    array = pa.array(host, kind).copy_to(ctx.memory_manager)
    for part, expected in (
        (array, host),
        (array.slice(7), host[7:]),
        (array.slice(7).slice(3, 20), host[10:30]),
        (array.slice(50), host[50:]),
    ):
        tensor = to_dlpack(part)
        assert tensor.typestr == host.dtype.str
        read = np.from_dlpack(tensor, device="cpu")
        assert read.dtype == host.dtype
        assert (read == expected).all()
    assert to_dlpack(array).__cuda_array_interface__["data"][0] == array.buffers()[1].address


def test_lists_of_a_fixed_size_are_dimensions(ctx):
    host = np.arange(24, dtype=np.float32).reshape(4, 3, 2)
    kind = pa.list_(pa.list_(pa.float32(), 2), 3)
    array = pa.array(host.tolist(), kind).copy_to(ctx.memory_manager)
    assert (np.from_dlpack(to_dlpack(array), device="cpu") == host).all()
    part = np.from_dlpack(to_dlpack(array.slice(1, 2)), device="cpu")
    assert (part == host[1:3]).all()
    assert to_dlpack(array.slice(4)).shape == (0, 3, 2)
    holed = pa.array([[[1, 2]] * 3, None], kind).copy_to(ctx.memory_manager)
    with pytest.raises(BufferError, match="1 of 2"):
        to_dlpack(holed)
    inside = pa.array([[[1, 2], None, [1, 2]]], kind).copy_to(ctx.memory_manager)
    with pytest.raises(BufferError, match="1 of 3"):
        to_dlpack(inside)


def test_extension_arrays_are_their_storage(ctx):
    kind = pa.fixed_shape_tensor(pa.int32(), (2, 2))
    host = np.arange(12, dtype=np.int32).reshape(3, 2, 2)
    array = pa.FixedShapeTensorArray.from_numpy_ndarray(host).copy_to(ctx.memory_manager)
    assert array.type == kind
    assert (np.from_dlpack(to_dlpack(array), device="cpu") == host).all()
    assert to_dlpack(array.slice(1)).shape == (2, 2, 2)


def test_columns_that_were_read_on_the_device(cuda, ctx):
    batch = pa.record_batch({"x": pa.array([1, 2, 3]), "y": pa.array([0.5, 1.5, 2.5])})
    message = cuda.serialize_record_batch(batch, ctx)
    there = cuda.read_record_batch(message, batch.schema)
    tensor = to_dlpack(there.column("y"))
    assert message.address < tensor.__cuda_array_interface__["data"][0]
    del there, message
    gc.collect()
    assert np.from_dlpack(tensor, device="cpu").tolist() == [0.5, 1.5, 2.5]


def test_nulls_are_counted_where_a_bitmap_is(ctx):
    array = pa.array([1, None, 3, 4, None, *range(100)]).copy_to(ctx.memory_manager)
    with pytest.raises(BufferError, match=r"nulls \(2 of 105\)"):
        to_dlpack(array)
    with pytest.raises(BufferError, match=r"nulls \(1 of 3\)"):
        to_dlpack(array.slice(4, 3))
    assert np.from_dlpack(to_dlpack(array.slice(2, 2)), device="cpu").tolist() == [3, 4]
    assert np.from_dlpack(to_dlpack(array.slice(5)), device="cpu").tolist() == list(range(100))
    assert to_dlpack(array.slice(1, 0)).shape == (0,)
    assert to_dlpack(array.slice(70, 8)).shape == (8,)
    with pytest.raises(BufferError, match=r"nulls \(1 of 1\)"):
        to_dlpack(array.slice(3).slice(1, 1))


@pytest.mark.parametrize(
    "array",
    [
        pa.array([True, False]),
        pa.array(["text"]),
        pa.array([[1], [2]]),
        pa.array([{"x": 1}]),
        pa.array([1], pa.date32()),
        pa.array([1], pa.timestamp("s")),
        pa.array([1], pa.decimal128(5)),
        pa.array(["a"]).dictionary_encode(),
        pa.nulls(3),
    ],
    ids=lambda array: str(array.type),
)
def test_values_that_are_no_tensor(ctx, array):
    with pytest.raises(BufferError, match="only integers and floats"):
        to_dlpack(array.copy_to(ctx.memory_manager))


@pytest.mark.parametrize("wrong", [None, 5, [1], pa.chunked_array([[1]]), np.arange(3)], ids=type)
def test_only_arrays_are_taken(wrong):
    with pytest.raises(TypeError, match=r"expected a pyarrow\.Array"):
        to_dlpack(wrong)


def test_host_arrays_speak_for_themselves():
    with pytest.raises(BufferError, match="host"):
        to_dlpack(pa.array([1, 2]))


# --- in ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", FORMS)
def test_tensors_of_others(ctx, memory, form):
    theirs = Producer(memory.address, (2, 5), form=form, byte_offset=10)
    buf = from_dlpack(theirs)
    assert (buf.address, buf.size, buf.is_mutable) == (memory.address + 10, 10, True)
    assert buf.to_pybytes() == bytes(range(10, 20))
    assert theirs.requests == [{"stream": 1, "max_version": (1, 1)}]
    part = buf.slice(3, 2)
    del buf
    gc.collect()
    assert theirs.deleted == 0
    del part
    gc.collect()
    assert theirs.deleted == 1


def test_read_only_tensors_stay_so(memory):
    buf = from_dlpack(Producer(memory.address, flags=1))
    with pytest.raises(ValueError, match="not mutable"):
        buf.copy_from_host(b"x")


def test_a_deleter_called_while_an_exception_travels(memory):
    theirs = Producer(memory.address, flags=1)
    with pytest.raises(ValueError, match="not mutable"):
        from_dlpack(theirs).copy_from_host(b"x")
    gc.collect()
    assert theirs.deleted == 1


def test_producers_that_know_no_versions(memory):
    class Old(Producer):
        def __dlpack__(self, stream=None):
            self.requests.append(stream)
            return self.capsule()

    theirs = Old(memory.address, form="dltensor")
    assert from_dlpack(theirs).to_pybytes() == bytes(range(10))
    assert theirs.requests == [1]


def test_a_capsule_itself(memory):
    theirs = Producer(memory.address)
    capsule = theirs.capsule()
    assert from_dlpack(capsule).size == 10
    assert theirs.deleted == 1
    with pytest.raises(ValueError, match="taken already"):
        from_dlpack(capsule)
    with pytest.raises(TypeError, match="no DLPack tensor"):
        from_dlpack(new_capsule(1, b"something_else", None))
    with pytest.raises(TypeError, match="no DLPack tensor"):
        from_dlpack(new_capsule(1, None, None))
    assert theirs.deleted == 1


def test_work_behind_a_capsule_is_waited_for(ctx, memory, make_stream):
    stream = make_stream(NON_BLOCKING)
    stream.sleep()
    stream.fill(memory, 7)
    assert from_dlpack(Producer(memory.address, (100,)).capsule()).to_pybytes() == b"\x07" * 100


def test_a_capsule_given_twice(memory):
    class Stingy(Producer):
        def __dlpack__(self, **request):
            self.only = getattr(self, "only", None) or self.capsule()
            return self.only

    theirs = Stingy(memory.address)
    first = from_dlpack(theirs)
    with pytest.raises(ValueError, match="taken already"):
        from_dlpack(theirs)
    assert theirs.deleted == 0
    assert first.to_pybytes() == bytes(range(10))


@pytest.mark.parametrize(
    ("fields", "error", "text"),
    [
        ({"version": (2, 0)}, BufferError, "2.0"),
        ({"version": (0, 5)}, BufferError, "0.5"),
        ({"shape": (-1,)}, ValueError, "-1"),
        ({"shape": (2**40, 2**40)}, ValueError, "overflows"),
        ({"shape": (2**63 - 1,), "bits": 64}, ValueError, "overflows"),
        ({"shape": (101,)}, ValueError, "out-of-range"),
        ({"shape": (10,), "strides": (2,)}, BufferError, "non-contiguous"),
        ({"shape": (2, 2), "strides": (0, 3)}, BufferError, "non-contiguous"),
        ({"shape": (5,), "strides": (2**62,), "bits": 64}, ValueError, "overflow"),
        ({"ndim": -1}, ValueError, "-1 dimensions"),
        ({"ndim": 2**30}, ValueError, "dimensions"),
        ({"bits": 1}, BufferError, "1 bits"),
        ({"lanes": 0}, BufferError, "0 bits"),
        ({"data": None}, ValueError, "at no address"),
        ({"byte_offset": 2**64 - 1}, ValueError, "address space"),
        ({"byte_offset": 95}, ValueError, "out-of-range"),
        ({"device_id": -1}, ValueError, "-1"),
        ({"device_id": 99}, OSError, "Cuda error 101"),
        ({"device_type": CPU}, BufferError, "buffer_from_data"),
        ({"device_type": 10}, BufferError, "not CUDA's"),
        ({"device_type": -5}, BufferError, "not CUDA's"),
        ({"data": 0x1234}, OSError, "Cuda error 1 "),
        ({"data": 2**64 - 1}, OSError, "Cuda error 1 "),
    ],
    ids=repr,
)
def test_tensors_that_lie(memory, fields, error, text):
    theirs = Producer(memory.address, **({"shape": (10,)} | fields))
    with pytest.raises(error, match=text):
        from_dlpack(theirs.capsule())
    gc.collect()
    assert theirs.deleted == 1


def test_tensors_of_another_device(ctx, memory, other_ctx):
    lies = Producer(memory.address, device_id=1)
    with pytest.raises(ValueError, match="lies on device 0"):
        from_dlpack(lies)
    there = other_ctx.buffer_from_data(b"on the second")
    view = from_dlpack(there)
    assert (view.address, view.context.device_number) == (there.address, 1)
    with pytest.raises(BufferError, match="without a copy"):
        from_dlpack(there, device=ctx, copy=False)
    brought = from_dlpack(there, device=ctx)
    assert (brought.context.device_number, brought.to_pybytes()) == (0, b"on the second")


def test_copies_when_asked_for(ctx, memory):
    theirs = Producer(memory.address)
    copied = from_dlpack(theirs, copy=True)
    gc.collect()
    assert theirs.deleted == 1
    memory.copy_from_host(b"changed")
    assert copied.to_pybytes() == bytes(range(10))
    for copy in (None, False):
        assert from_dlpack(memory, device=ctx, copy=copy).address == memory.address


def test_pinned_tensors(cuda, ctx):
    pinned = cuda.new_host_buffer(10)
    pinned_bytes = np.frombuffer(pinned, np.uint8)
    pinned_bytes[:] = 5
    theirs = Producer(pinned.address, device_type=CUDA_HOST)
    view = from_dlpack(theirs)
    assert view.to_pybytes() == b"\5" * 10
    assert theirs.requests == [{"max_version": (1, 1)}]
    pageable = ctypes.create_string_buffer(10)
    with pytest.raises(OSError, match="Cuda error 1 "):
        from_dlpack(Producer(ctypes.addressof(pageable), device_type=CUDA_HOST))


def test_empty_tensors(memory):
    for fields in ({"shape": (0,), "data": None}, {"shape": (2**62, 2**62, 0)}):
        theirs = Producer(memory.address, **fields)
        assert from_dlpack(theirs).size == 0
        assert theirs.deleted == 1


@pytest.mark.parametrize("wrong", [None, 5, b"bytes", object(), [1, 2]], ids=type)
def test_what_does_not_speak_dlpack(wrong):
    with pytest.raises(TypeError, match=f"__dlpack__.*got {type(wrong).__name__}"):
        from_dlpack(wrong)


def test_objects_that_fail_on_the_way(memory):
    class Fails(Producer):
        def __dlpack__(self, **request):
            raise RuntimeError("no tensor today")

    with pytest.raises(RuntimeError, match="no tensor today"):
        from_dlpack(Fails(memory.address))

    class NoCapsule(Producer):
        def __dlpack__(self, **request):
            return "tensor"

    with pytest.raises(TypeError, match=r"(?i)capsule"):
        from_dlpack(NoCapsule(memory.address))

    class NoDevice(Producer):
        def __dlpack_device__(self):
            return "cuda"

    with pytest.raises((TypeError, ValueError)):
        from_dlpack(NoDevice(memory.address))
    with pytest.raises(BufferError, match="host"):
        from_dlpack(np.arange(3))


def test_wrong_options(memory):
    for options in ({"device": 0}, {"device": "cuda"}, {"copy": "yes"}, {"stream": 1}):
        with pytest.raises(TypeError):
            from_dlpack(memory, **options)


def test_references_are_given_back(memory):
    theirs = Producer(memory.address)
    before = sys.getrefcount(theirs)
    for _ in range(10):
        from_dlpack(theirs)
        with pytest.raises(BufferError):
            from_dlpack(Producer(memory.address, device_type=CPU))
    gc.collect()
    assert (sys.getrefcount(theirs), theirs.deleted) == (before, 10)
