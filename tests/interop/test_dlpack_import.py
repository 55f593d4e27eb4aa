"""Tensors of other libraries as device arrays; structures made here stand for the producer."""

import ctypes
import gc
import sys

import numpy as np
import pytest

from pyarrow_cuda_compat import DeviceArray, from_dlpack
from pyarrow_cuda_compat import memory as memory_module
from support.libraries.dlpack import CPU, CUDA_HOST, DELETER, FORMS, Producer, new_capsule
from support.streams import pinned_of


@pytest.mark.parametrize("form", FORMS)
def test_tensors_of_others(ctx, memory, form):
    theirs = Producer(memory.address, (2, 5), form=form, byte_offset=10)
    array = from_dlpack(theirs)
    assert (array.address, array.shape, array.is_mutable) == (memory.address + 10, (2, 5), True)
    assert array.dtype == np.uint8
    assert array.copy_to_host().tolist() == [[10, 11, 12, 13, 14], [15, 16, 17, 18, 19]]
    assert theirs.requests == [{"stream": 1, "max_version": (1, 1)}]
    part = array.buffer.slice(3, 2)
    del array
    gc.collect()
    assert theirs.deleted == 0
    del part
    gc.collect()
    assert theirs.deleted == 1


@pytest.mark.parametrize(
    ("strides", "byte_offset", "start", "expected"),
    [
        ((1, 2), 0, 0, [[0, 2, 4], [1, 3, 5]]),
        ((10, 3), 5, 5, [[5, 8, 11], [15, 18, 21]]),
        ((-10, -1), 50, 38, [[50, 49, 48], [40, 39, 38]]),
        ((0, 4), 0, 0, [[0, 4, 8], [0, 4, 8]]),
        (None, 7, 7, [[7, 8, 9], [10, 11, 12]]),
    ],
    ids=repr,
)
def test_elements_lie_in_any_order_and_distance(memory, strides, byte_offset, start, expected):
    theirs = Producer(memory.address, (2, 3), strides, byte_offset=byte_offset)
    array = from_dlpack(theirs)
    assert array.strides == (strides or (3, 1))
    assert array.copy_to_host().tolist() == expected
    assert array.address == memory.address + byte_offset
    assert array.buffer.address == memory.address + start
    assert array.buffer.size == np.max(expected) - np.min(expected) + 1


@pytest.mark.parametrize(
    ("code", "bits", "lanes", "dtype"),
    [
        (6, 8, 1, "?"),
        (5, 64, 1, "c8"),
        (4, 16, 1, "V2"),  # bfloat16
        (17, 8, 1, "V1"),  # an 8-bit floating-point number
        (2, 32, 4, "V16"),  # a vector
        # Numbers of sizes that NumPy does not have.
        (0, 128, 1, "V16"),
        (1, 24, 1, "V3"),
        (2, 8, 1, "V1"),
        (5, 32, 1, "V4"),
        (6, 16, 1, "V2"),
    ],
)
def test_types_of_elements(memory, code, bits, lanes, dtype):
    theirs = Producer(memory.address, (2,), code=code, bits=bits, lanes=lanes)
    array = from_dlpack(theirs)
    assert array.dtype == np.dtype(dtype)
    assert array.copy_to_host().tobytes() == bytes(range(2 * array.itemsize))


def test_a_deleter_called_while_an_exception_travels(memory):
    theirs = Producer(memory.address, flags=1)
    with pytest.raises(ValueError, match="not mutable"):
        from_dlpack(theirs).buffer.copy_from_host(b"x")
    gc.collect()
    assert theirs.deleted == 1


def test_a_capsule_itself(memory):
    theirs = Producer(memory.address)
    capsule = theirs.capsule()
    first = from_dlpack(capsule)
    with pytest.raises(ValueError, match="already consumed"):
        from_dlpack(capsule)
    assert theirs.deleted == 0
    assert first.buffer.to_pybytes() == bytes(range(10))
    del first
    with pytest.raises(TypeError, match="does not hold a DLPack tensor"):
        from_dlpack(new_capsule(1, None, None))
    assert theirs.deleted == 1


@pytest.mark.parametrize(
    ("fields", "error", "text"),
    [
        ({"version": (0, 5)}, BufferError, "0.5"),
        ({"shape": (2**63 - 1,), "bits": 64}, ValueError, "overflows"),
        ({"shape": (2,), "strides": (-1,)}, (OSError, ValueError), "Cuda error 1 |out-of-range"),
        ({"shape": (5,), "strides": (2**62,), "bits": 64}, ValueError, "overflow"),
        ({"shape": None, "ndim": 1}, ValueError, "no shape"),
        ({"ndim": -1}, ValueError, "-1 dimensions"),
        ({"ndim": 2**30}, ValueError, "dimensions"),
        ({"lanes": 0}, BufferError, "0 bits"),
        ({"data": 4, "shape": (3,), "strides": (-1,), "bits": 32}, ValueError, "address space"),
        ({"byte_offset": 2**64 - 1}, ValueError, "address space"),
        ({"device_type": -5}, BufferError, "not CUDA"),
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


@pytest.mark.usefixtures("other_ctx")
def test_tensors_that_name_another_device(memory):
    with pytest.raises(ValueError, match="lies on device 0"):
        from_dlpack(Producer(memory.address, device_id=1))


@pytest.mark.parametrize("form", FORMS)
def test_a_structure_may_have_no_deleter(memory, form):
    theirs = Producer(memory.address, form=form)
    theirs.structure.deleter = DELETER()
    assert from_dlpack(theirs.capsule()).shape == (10,)
    gc.collect()
    assert theirs.deleted == 0


def test_a_copy_keeps_nothing(memory):
    theirs = Producer(memory.address)
    copied = from_dlpack(theirs, copy=True)
    gc.collect()
    assert theirs.deleted == 1
    assert copied.buffer.to_pybytes() == bytes(range(10))


def test_pinned_tensors(cuda, ctx):
    pinned = pinned_of(cuda, b"\5" * 10)
    theirs = Producer(pinned.address, device_type=CUDA_HOST)
    view = from_dlpack(theirs)
    assert view.buffer.to_pybytes() == b"\5" * 10
    assert theirs.requests == [{"max_version": (1, 1)}]
    pageable = ctypes.create_string_buffer(10)
    with pytest.raises(OSError, match="Cuda error 1 "):
        from_dlpack(Producer(ctypes.addressof(pageable), device_type=CUDA_HOST))


def test_empty_tensors(memory):
    for fields in ({"shape": (0,), "data": None}, {"shape": (2**62, 2**62, 0)}):
        theirs = Producer(memory.address, **fields)
        assert from_dlpack(theirs).shape == fields["shape"]
        assert theirs.deleted == 1


@pytest.mark.parametrize("wrong", [None, 5, b"bytes", object(), [1, 2]], ids=type)
def test_what_does_not_speak_dlpack(wrong):
    with pytest.raises(TypeError, match=f"__dlpack__.*got {type(wrong).__name__}"):
        from_dlpack(wrong)


def fails(_self, **request):
    raise RuntimeError("no tensor today")


@pytest.mark.parametrize(
    ("method", "answer", "error", "text"),
    [
        ("__dlpack__", fails, RuntimeError, "no tensor today"),
        ("__dlpack__", lambda _, **request: "tensor", TypeError, "(?i)capsule"),
        ("__dlpack_device__", lambda _: "cuda", (TypeError, ValueError), None),
    ],
)
def test_objects_that_fail_on_the_way(memory, method, answer, error, text):
    theirs = type("Theirs", (Producer,), {method: answer})
    with pytest.raises(error, match=text):
        from_dlpack(theirs(memory.address))


def test_wrong_options(memory):
    for options in ({"device": 0.0}, {"device": "gpu"}, {"copy": "yes"}, {"stream": 1}):
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


class Tensor:
    """As PyTorch's, whose array interface describes the memory, whatever the values are."""

    def __init__(self, array, *, is_conj=False, is_neg=False, refusal=None):
        self.array, self.refusal = array, refusal
        self.is_conj, self.is_neg = (lambda: is_conj), (lambda: is_neg)
        self.__cuda_array_interface__ = array.__cuda_array_interface__

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()

    def __dlpack__(self, **options):
        if self.refusal:
            raise BufferError(self.refusal)
        return self.array.__dlpack__(**options)


WAYS = {
    "from_dlpack": lambda ctx, tensor: from_dlpack(tensor),
    "DeviceArray": lambda ctx, tensor: DeviceArray(tensor),
    "buffer": lambda ctx, tensor: ctx.buffer_from_object(tensor),
    "view": lambda ctx, tensor: memory_module.as_cuda_array(tensor),
    "described": lambda ctx, tensor: memory_module.from_cuda_array_interface(
        tensor.__cuda_array_interface__, owner=tensor
    ),
}


@pytest.mark.parametrize("way", WAYS)
def test_lazy_tensors_are_refused(ctx, way):
    """Their memory holds other values, which no protocol says."""
    array = DeviceArray.from_host([1 + 2j, 3 - 4j])
    for lazy in ("conj", "neg"):
        # PyTorch's DLPack refuses conjugated tensors, and exports negated ones without a word.
        tensor = Tensor(array, refusal="lazy" if lazy == "conj" else None, **{f"is_{lazy}": True})
        with pytest.raises(BufferError, match=rf"lazily {lazy}.*tensor\.resolve_{lazy}\(\)$"):
            WAYS[way](ctx, tensor)
    assert WAYS[way](ctx, Tensor(array)).address == array.address


class Immutable:
    """As JAX's arrays: only the array interface says that they are read-only."""

    def __init__(self, array, **entries):
        self.__dlpack__, self.__dlpack_device__ = array.__dlpack__, array.__dlpack_device__
        data = {"data": (array.address, True), "version": 2}
        self.__cuda_array_interface__ = array.__cuda_array_interface__ | data | entries


@pytest.mark.parametrize("way", WAYS)
def test_immutable_arrays_stay_as_they_are(ctx, way):
    array = DeviceArray.from_host([1, 2])
    view = WAYS[way](ctx, Immutable(array))
    assert (view.address, view.is_mutable) == (array.address, False)
    if way != "buffer":
        with pytest.raises(ValueError, match="read-only"):
            view.fill(3)
    assert array.copy_to_host().tolist() == [1, 2]
    assert WAYS[way](ctx, Immutable(array, data=(array.address, False))).is_mutable


def test_copies_of_immutable_arrays_are_mutable():
    theirs = Immutable(DeviceArray.from_host([1, 2]))
    copied = from_dlpack(theirs, copy=True)
    copied.fill(3)
    assert from_dlpack(theirs).copy_to_host().tolist() == [1, 2]


@pytest.mark.parametrize("interface", [None, 5, {}, {"data": None}, {"data": 5}, {"data": ("x",)}])
def test_an_interface_that_describes_nothing_marks_nothing(interface):
    theirs = Immutable(DeviceArray.from_host([1, 2]))
    theirs.__cuda_array_interface__ = interface
    assert DeviceArray(theirs).is_mutable


@pytest.mark.parametrize(
    ("error", "is_raised"), [(TypeError, False), (KeyError, False), (KeyboardInterrupt, True)]
)
def test_an_interface_that_fails_marks_nothing(error, is_raised):
    def fails(_self):
        raise error("bfloat16")

    kind = type("Theirs", (Producer,), {"__cuda_array_interface__": property(fails)})
    memory = DeviceArray.from_host(np.arange(10, dtype="u1"))
    theirs = kind(memory.address)
    if is_raised:
        with pytest.raises(error):
            DeviceArray(theirs)
    else:
        assert DeviceArray(theirs).is_mutable


@pytest.mark.hardware
@pytest.mark.parametrize("way", WAYS)
def test_lazy_tensors_of_pytorch_are_refused(ctx, way):
    torch = pytest.importorskip("torch")
    values = torch.tensor([1 + 2j, 3 - 4j], device="cuda")
    for lazy, name in ((values.conj(), "conj"), (values.conj().imag, "neg")):
        with pytest.raises(BufferError, match=rf"resolve_{name}\(\)$"):
            WAYS[way](ctx, lazy)
        resolved = lazy.resolve_conj().resolve_neg()
        assert WAYS[way](ctx, resolved).address == resolved.data_ptr()
        assert DeviceArray(resolved).copy_to_host().tolist() == lazy.cpu().tolist()


def test_a_refusal_by_dlpack_stands(ctx):
    tensor = Tensor(DeviceArray.from_host([1.5, 2.5]), refusal="it has a secret")
    with pytest.raises(BufferError, match="it has a secret"):
        DeviceArray(tensor)


NOT_FOR_DLPACK = {
    "structures": np.array([(1, 2.5)], dtype=[("a", "i1"), ("b", "f8")]),
    "dates": np.array(["2026-11-28"], "M8[D]"),
    "bytes swapped": np.arange(6, dtype=">i4"),
}


@pytest.mark.parametrize("name", ["backwards", *NOT_FOR_DLPACK])
def test_the_array_interface_has_what_dlpack_cannot_describe(name):
    host = NOT_FOR_DLPACK.get(name, np.arange(6))
    array = DeviceArray.from_host(host)
    if name == "backwards":
        array, host = array[::-1], host[::-1]
    there = DeviceArray(Tensor(array, refusal="DLPack has no word for it"))
    assert there.address == array.address
    assert there.copy_to_host().tolist() == host.tolist()
