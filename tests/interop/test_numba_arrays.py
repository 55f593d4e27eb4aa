"""Numba itself takes our arrays: kernels, and functions that are compiled for the host.

`support.libraries.numba_itself` says which package.
"""

import importlib
import importlib.util
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import cuda

from pyarrow_cuda_compat import DeviceArray, SmartArray, Stream, _native, memory, pinned_memory_pool
from pyarrow_cuda_compat._methods.numba import kernels
from support.driver import DOWN
from support.interfaces import ByInterface
from support.libraries.numba_itself import PACKAGE

pytestmark = [pytest.mark.foreign, pytest.mark.independent, pytest.mark.filterwarnings("default")]

RECORD = np.dtype([("count", "i4"), ("share", "f8")], align=True)


@pytest.fixture
def prepared(numba_cuda):
    """What Numba passes to a kernel for an argument: its type, numbers, and what it calls later."""
    if PACKAGE != "numba.cuda":
        pytest.skip("numba-cuda-mlir prepares arguments in compiled code")
    dispatcher = importlib.import_module("numba.cuda.dispatcher")
    typeof = importlib.import_module("numba.cuda.typing.typeof").typeof
    driver = importlib.import_module("numba.cuda.cudadrv.driver")
    numba_cuda.current_context()

    def prepared(argument, stream=0):
        kind, later, passed = typeof(argument), [], []
        kernel = SimpleNamespace(extensions=[])
        stream = driver._to_core_stream(stream)
        dispatcher._Kernel._prepare_args(kernel, kind, argument, stream, later, passed)
        return kind, passed[2:], later

    return prepared


ARRAYS = {
    "C": lambda: memory.to_device(np.arange(6.0).reshape(2, 3)),
    "F": lambda: memory.to_device(np.arange(6.0).reshape(2, 3)).T,
    "A": lambda: memory.to_device(np.zeros((4, 6), "c8"))[::2, ::-1],
    "none": lambda: memory.to_device(np.float32(1)),
    "repeated": lambda: memory.to_device(np.broadcast_to(np.zeros(3, "f4"), (2, 3))),
    "records": lambda: memory.to_device(np.zeros(3, RECORD)),
    "field": lambda: memory.to_device(np.zeros(3, "i1,f8"))["f1"],
    "dates of records": lambda: memory.to_device(np.zeros(3, "i1,M8[ns]"))["f1"],
    "dates": lambda: memory.to_device(np.zeros(3, "M8[ns]")),
    "at an odd address": lambda: memory.to_device(np.zeros(9, "u1"))[1:].view("i4"),
    "bool": lambda: memory.to_device(np.zeros(3, "?")),
    "half": lambda: memory.to_device(np.zeros(3, "f2")),
}
UNALIGNED = ("field", "dates of records", "at an odd address")
LAYOUTS = {"F": "F", "A": "A", "repeated": "A", "field": "A", "dates of records": "A"}


@pytest.mark.parametrize("name", ARRAYS)
def test_what_a_kernel_is_passed(prepared, name):
    array = ARRAYS[name]()
    kind, (size, itemsize, address, *layout), _ = prepared(array)
    numpy_support = importlib.import_module("numba.cuda.np.numpy_support")
    assert (kind.dtype, kind.ndim) == (numpy_support.from_dtype(array.dtype), array.ndim)
    assert (kind.layout, kind.mutable) == (LAYOUTS.get(name, "C"), True)
    # Without that flag a kernel faults, and no work of the process survives it.
    assert kind.aligned is (name not in UNALIGNED)
    assert (size, itemsize, address) == (array.size, array.itemsize, array.address)
    assert layout == [*array.shape, *array.strides]


def test_a_read_only_array_is_no_result(prepared):
    kept = memory.to_device(np.zeros(3))
    read_only = ByInterface(kept, data=(kept.address, True))
    kind, _, _ = prepared(memory.as_cuda_array(read_only))
    assert str(kind) == "readonly array(float64, 1d, C)"


def test_structures_that_are_equal_have_their_own_alignment(prepared):
    members = [("a", "i4"), ("b", "i4")]
    dtypes = [np.dtype(members, align=is_aligned) for is_aligned in (True, False)]
    assert dtypes[0] == dtypes[1]
    kinds = [prepared(memory.to_device(np.zeros(3, dtype)))[0] for dtype in dtypes]
    assert [kind.dtype.aligned for kind in kinds] == [True, False]


HOST_ARRAYS = {
    "pageable": (pa.array([1, 2]), False),
    "with nulls": (pa.array([1.5, 2.5]).slice(1), False),
    "a tensor": (pa.Tensor.from_numpy(np.zeros(3)), False),
    "empty": (pa.array([], pa.int8()), True),
}


@pytest.mark.parametrize("name", HOST_ARRAYS)
def test_arrow_arrays_on_the_host_are_no_arguments(prepared, name):
    array, is_reachable = HOST_ARRAYS[name]
    view = importlib.import_module("numba.cuda.cudadrv.devicearray")._to_strided_memory_view
    if is_reachable:
        prepared(array)
        return
    # The second is what a kernel with given types does.
    for call in (prepared, view):
        with pytest.raises(
            TypeError, match=r"cannot read this .* on the host: pass a copy .* copy_to"
        ):
            call(array)
    if isinstance(array, pa.Tensor):
        return
    on_device = array.copy_to(cuda.Context(0))
    _, (size, _, address, *_), _ = prepared(on_device)
    assert (size, address) == (len(array), on_device.buffers()[1].address + 8 * on_device.offset)


def test_arrow_arrays_in_pinned_memory_are_arguments(prepared):
    array = pa.array([1, 2], memory_pool=pinned_memory_pool())
    assert prepared(array)[1][2] == array.buffers()[1].address


def test_types_of_smart_arrays(prepared):
    records = SmartArray(np.zeros((3, 4), RECORD))
    parts = (records, records.T, records["share"], records[:, 0])
    kinds = [prepared(part)[0] for part in parts]
    assert [(kind.ndim, kind.layout) for kind in kinds] == [(2, "C"), (2, "F"), (2, "A"), (1, "A")]


@pytest.fixture
def kind_for_kernels():
    """Numba's type of an argument.  It needs no device in Numba."""
    if PACKAGE != "numba.cuda" or importlib.util.find_spec("numba") is None:
        pytest.skip("numba-cuda-mlir takes a SmartArray by its interface")
    importlib.import_module(PACKAGE)
    return importlib.import_module("numba.cuda.typing.typeof").typeof


PACKED = np.dtype([("count", "i4"), ("share", "f8"), ("other", "i4")])


def test_alignment_of_smart_arrays(kind_for_kernels):
    fields = SmartArray(np.zeros(4, PACKED))
    for where in ("host", "gpu"):
        fields.get(where)
        assert not kind_for_kernels(fields["share"]).aligned
        assert kind_for_kernels(fields["other"]).aligned
    # Packed structures may begin anywhere.
    odd = memory.to_device(np.zeros(1 + 4 * PACKED.itemsize, "u1"))[1:].view(PACKED)
    assert not kind_for_kernels(SmartArray(odd, copy=False)["other"]).aligned
    assert kind_for_kernels(SmartArray(odd)["other"]).aligned


def read_only_array():
    buffer = cuda.Context(0).buffer_from_data(bytes(32))
    return DeviceArray(_native._read_only(buffer), "f8")


def test_read_only_smart_arrays_for_kernels(kind_for_kernels):
    array = SmartArray(read_only_array(), copy=False)
    assert not kind_for_kernels(array).mutable
    assert not kind_for_kernels(array[1:]).mutable
    assert kind_for_kernels(SmartArray(read_only_array())).mutable
    assert not kind_for_kernels(np.broadcast_to(SmartArray(np.zeros(3)), (2, 3))).mutable
    # Its memory on the device is its own.
    assert kind_for_kernels(SmartArray(np.frombuffer(bytes(32)), copy=False)).mutable


def test_a_smart_array_hears_of_the_launch(prepared):
    for stream in (0, memory.stream(), memory.default_stream()):
        array = SmartArray(np.arange(4.0))
        kind, (_, _, address, *_), later = prepared(array, stream)
        assert str(kind) == "array(float64, 1d, C)"
        assert address == array.get("gpu").address
        array.get("gpu").fill(7)
        assert array.tolist() == [0, 1, 2, 3]
        for each in later:
            each()
        assert array.tolist() == [7] * 4


@pytest.mark.simulator
def test_a_launch_moves_what_is_stale(prepared, calls):
    def transfers(array):
        def launch():
            for each in prepared(array)[2]:
                each()

        return calls(launch, b"cuMemcpyHtoDAsync_v2", DOWN)[1]

    array = SmartArray(np.arange(4.0))
    assert transfers(array) == [1, 0]
    assert transfers(array) == [0, 0]  # it is on the device already, and nobody has the host's side
    held = array.get()
    assert transfers(array) == [0, 1]
    array[0] = 9
    assert transfers(array[::2]) == [1, 1]
    assert held.tolist() == [9, 1, 2, 3]


def test_streams_of_this_package_only_by_numbas_class(prepared):
    array, stream = ARRAYS["C"](), memory.stream()
    with pytest.raises(TypeError, match=r"Expected a Stream object.* got Stream"):
        prepared(array, Stream())
    driver = importlib.import_module("numba.cuda.cudadrv.driver")
    assert isinstance(stream, driver.Stream)
    assert int(stream) == stream.handle.value


def test_classes_of_several_packages_become_bases():
    class Placeholder:
        pass

    class Operators:
        __slots__ = ()

    class Ours(Placeholder, Operators):
        pass

    class Theirs:
        def theirs(self):
            return "theirs"

    class Others:
        pass

    early = Ours()
    kernels.rebase(Ours, Placeholder, Theirs)
    kernels.rebase(Ours, Placeholder, Others)
    assert Ours.__bases__ == (Theirs, Others, Operators)
    assert isinstance(early, Others)
    assert early.theirs() == "theirs"


def test_mapped_arrays_are_passed_without_a_copy(prepared):
    array = memory.mapped_array(3, "i4")
    _, (_, _, address, *_), _ = prepared(array[1:])
    assert address == memory.as_cuda_array(array[1:]).address


@pytest.mark.parametrize("name", ["C", "F", "records"])
def test_numba_makes_arrays_like_ours(numba_cuda, name):
    ours = ARRAYS[name]()
    theirs = numba_cuda.device_array_like(ours)
    assert (theirs.shape, theirs.strides, theirs.dtype) == (ours.shape, ours.strides, ours.dtype)
    assert theirs.flags == ours.flags


def test_arrays_of_numba_and_ours(numba_cuda):
    ours, stream = memory.to_device(np.arange(3)), memory.stream()
    theirs = numba_cuda.to_device(np.zeros(3, int))  # on a stream, the next copy would be queued,
    theirs.copy_to_device(ours)  # and Numba does not keep the host's array that it goes through
    back = theirs.copy_to_host(stream=stream)  # which nobody else keeps
    stream.synchronize()
    assert back.tolist() == [0, 1, 2]
    assert memory.to_device(theirs) is theirs
    assert memory.as_cuda_array(theirs).copy_to_host().tolist() == [0, 1, 2]
    assert numba_cuda.as_cuda_array(ours).copy_to_host().tolist() == [0, 1, 2]
    event = numba_cuda.event()
    event.record(stream)
    event.synchronize()


@pytest.mark.usefixtures("other_ctx")
def test_numba_selects_the_device_as_well(numba_cuda):
    if PACKAGE != "numba.cuda":
        pytest.skip("select_device tells numba.cuda only")
    try:
        memory.select_device(1)
        assert numba_cuda.current_context().device.id == 1
    finally:
        memory.select_device(0)


# --- kernels ------------------------------------------------------------------------------------


@pytest.mark.hardware
def test_a_kernel_on_each_kind_of_stream(increment):
    array, owner = memory.to_device(np.zeros(1000)), Stream()
    streams = [0, memory.stream(), memory.external_stream(owner.handle), memory.default_stream()]
    streams += [memory.legacy_default_stream(), memory.per_thread_default_stream()]
    for stream in streams:
        increment[8, 128, stream](array)
        memory.synchronize()
    assert (array.copy_to_host() == len(streams)).all()


@pytest.mark.hardware
def test_a_kernel_sees_fields(numba_cuda, increment):
    @numba_cuda.jit
    def halve(records):
        place = numba_cuda.grid(1)
        if place < records.size:
            records[place].share = records[place].count / 2

    array = memory.to_device(np.array([(3, 0), (5, 0)], RECORD))
    halve[1, 32](array)
    assert array.copy_to_host().tolist() == [(3, 1.5), (5, 2.5)]
    packed = memory.to_device(np.array([(1, 0.5), (2, 1.5)], "i1,f8"))
    increment[1, 32](packed["f1"])
    assert packed.copy_to_host().tolist() == [(1, 1.5), (2, 2.5)]


@pytest.mark.hardware
@pytest.mark.usefixtures("increment")
@pytest.mark.parametrize("has_result", [False, True])
def test_numbas_own_transpose(has_result):
    module = pytest.importorskip(f"{kernels.PACKAGES[PACKAGE]}.kernels.transpose")
    host = np.arange(12.0).reshape(3, 4)
    result = memory.device_array((4, 3)) if has_result else None
    returned = module.transpose(memory.to_device(host), result)
    assert (returned is result) is has_result
    assert (returned.copy_to_host() == host.T).all()


@pytest.mark.hardware
def test_a_kernel_on_the_memory_of_the_host(increment):
    array, mapped = np.zeros(1000), memory.mapped_array(1000)
    mapped[:] = 1
    with memory.mapped(array) as on_device:
        increment[8, 128](on_device)
        increment[8, 128](mapped)
    assert (array == 1).all()
    assert (mapped == 2).all()


@pytest.mark.hardware
def test_kernels_on_a_smart_array(increment):
    array = SmartArray(np.zeros((2, 500)))
    stream = Stream(non_blocking=True)
    held = array.get()
    increment[4, 128](array[0])
    increment[4, 128, memory.external_stream(stream.handle)](array[1])
    if PACKAGE == "numba.cuda":  # the other one does not say that it has launched a kernel
        assert (held == 1).all()
    stream.synchronize()
    assert (array.get() == 1).all()
    array[0] = 5
    increment[8, 128](array.ravel())
    assert array[:, 0].tolist() == [6, 2]


# --- functions for the host ---------------------------------------------------------------------


@pytest.fixture(scope="module")
def numba():
    if importlib.util.find_spec("numba") is None:
        pytest.skip("numba is not installed")
    return importlib.import_module("numba")


@pytest.fixture(scope="module")
def same(numba):
    """A compiled function that returns its argument."""
    return numba.njit(lambda array: array)


def test_compiled_functions_take_and_return_smart_arrays(numba, same):
    @numba.njit
    def part(array, key):
        return array[key]

    @numba.njit
    def computed(array):
        return np.cos(np.sin(array)) + 1

    @numba.njit
    def described(array):
        return array.shape, len(array), array.sum(), array[1, 2]

    host = np.arange(6.0).reshape(2, 3)
    array = SmartArray(host, where="gpu")
    assert same(array) is array
    assert described(array) == ((2, 3), 2, 15, 5)
    row = part(array, slice(1, None))
    assert type(row) is SmartArray
    row[0, 0] = 9
    assert array[1, 0] == 9
    result = computed(array)
    assert type(result) is SmartArray
    assert np.allclose(result, np.cos(np.sin(array.get())) + 1)
    assert same(array.T).get("gpu").strides == (8, 24)
    assert same(SmartArray(np.array([(1, 0.5)], RECORD))).tolist() == [(1, 0.5)]
    assert described(SmartArray(np.asfortranarray(host)))[0] == (2, 3)


def test_compiled_functions_mark_the_host(numba):
    @numba.njit
    def set_first(array, value):
        array[0] = value
        if value < 0:
            raise ValueError("negative")

    array = SmartArray(np.zeros(3))
    array.get("gpu").fill(1)
    array.mark_changed("gpu")
    set_first(array[1:], 5)
    assert array.get("gpu").copy_to_host().tolist() == [1, 5, 1]
    with pytest.raises(ValueError, match="negative"):
        set_first(array, -1)
    assert array.get("gpu").copy_to_host().tolist() == [-1, 5, 1]


def test_compiled_functions_write_to_nothing_that_is_read_only(numba, same):
    @numba.njit
    def set_first(array):
        array[0] = 72

    @numba.njit
    def total(array):
        return array.sum()

    data = bytes(range(16))
    constant = SmartArray(np.frombuffer(data, "u1"), copy=False)
    on_device = SmartArray(read_only_array(), copy=False)
    repeated = np.broadcast_to(SmartArray(np.ones(3)), (2, 3))
    for array, expected in ((constant, 120), (on_device, 0), (constant[1:], 120), (repeated, 6)):
        assert total(array) == expected
        assert same(array) is array
        with pytest.raises(numba.TypingError, match="readonly"):
            set_first(array)
        assert total(array) == expected
        assert array.get("gpu").copy_to_host().sum() == expected
    assert data == bytes(range(16))
