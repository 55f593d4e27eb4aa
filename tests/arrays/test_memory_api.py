"""Numba's memory API: its signatures, layouts and refusals, its streams and devices."""

import gc
import inspect

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pyarrow_cuda_compat import DeviceArray, Event, memory
from pyarrow_cuda_compat import Stream as PlainStream
from support.interfaces import ByInterface
from support.streams import Theirs
from support.threads import in_thread

#: As `numba.cuda` has them in numba-cuda 0.27.0, 0.28.2 and 0.30.4, `DeviceNDArray` as in the
#: documentation of Numba 0.36.
SIGNATURES = [
    "DeviceNDArray(shape, strides, dtype, stream=0, writeback=None, gpu_data=None)",
    "as_cuda_array(obj, sync=True)",
    "default_stream()",
    "defer_cleanup()",
    "device_array(shape, dtype=np.float64, strides=None, order='C', stream=0)",
    "device_array_like(ary, stream=0)",
    "event(timing=True)",
    "event_elapsed_time(evtstart, evtend)",
    "external_stream(ptr)",
    "from_cuda_array_interface(desc, owner=None, sync=True)",
    "is_cuda_array(obj)",
    "legacy_default_stream()",
    "mapped(*arylist, **kws)",
    "mapped_array(shape, dtype=np.float64, strides=None, order='C', stream=0, "
    "portable=False, wc=False)",
    "mapped_array_like(ary, stream=0, portable=False, wc=False)",
    "open_ipc_array(handle, shape, dtype, strides=None, offset=0)",
    "per_thread_default_stream()",
    "pinned(*arylist)",
    "pinned_array(shape, dtype=np.float64, strides=None, order='C')",
    "pinned_array_like(ary)",
    "select_device(device_id)",
    "stream()",
    "synchronize()",
    "to_device(obj, stream=0, copy=True, to=None)",
]


@pytest.mark.parametrize("line", SIGNATURES)
def test_signatures(line):
    name = line.partition("(")[0]
    theirs = {"np": np}
    exec(f"def {line}: pass", theirs)

    def described(function):
        parameters = inspect.signature(function).parameters.values()
        return [(each.name, each.kind, each.default) for each in parameters]

    assert described(getattr(memory, name)) == described(theirs[name])


def test_every_function_has_a_signature_here():
    functions = {name for name in memory.__all__ if inspect.isfunction(getattr(memory, name))}
    named = {line.partition("(")[0] for line in SIGNATURES}
    assert functions - {"current_context"} == named - {"DeviceNDArray"}


def test_every_device_array_is_an_instance_of_numbas_class():
    array = memory.to_device(np.zeros(3))
    for each in (array, array[:2], array[0], memory.DeviceNDArray(3, 8, "f8")):
        assert isinstance(each, memory.DeviceNDArray)
    assert not isinstance(np.zeros(3), memory.DeviceNDArray)
    with pytest.raises(TypeError, match="Mine cannot have instances"):
        type("Mine", (memory.DeviceNDArray,), {})(3, 8, "f8")


# --- layouts ------------------------------------------------------------------------------------

shapes = st.lists(st.integers(0, 4), max_size=4).map(tuple)


@given(shapes, st.sampled_from(["i1", "f8", "c16", "i4, f8", "M8[ns]"]), st.sampled_from("CF"))
def test_new_arrays_have_numpys_strides(shape, dtype, order):
    expected = np.empty(shape, dtype, order)
    for make in (memory.device_array, memory.pinned_array, memory.mapped_array):
        made = make(shape, dtype, order=order)
        assert (made.shape, made.dtype) == (expected.shape, expected.dtype)
        if expected.size:  # nothing is ever reached by those of an empty array
            assert made.strides == expected.strides


@given(st.data())
def test_arrays_like_others_have_their_order_without_their_gaps(data):
    shape = data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    whole = np.empty([2 * length for length in shape], "i2")
    part = whole[tuple(slice(0, length) for length in shape)]
    like = part.transpose(data.draw(st.permutations(range(part.ndim))))
    expected = np.empty_like(like)
    on_device = DeviceArray.from_host(whole)[tuple(slice(0, length) for length in shape)]
    for make in (memory.device_array_like, memory.pinned_array_like, memory.mapped_array_like):
        made = make(like)
        assert (made.shape, made.dtype, made.strides) == (like.shape, like.dtype, expected.strides)
        assert make(on_device).strides == np.empty_like(part).strides


def test_strides_with_gaps_and_negative_ones():
    for shape, strides in (((2, 3), (64, 8)), ((2, 3), (8, -64)), (3, -16), ((2, 0), (0, 8))):
        values = np.random.default_rng(0).random(shape)
        for make in (memory.device_array, memory.pinned_array, memory.mapped_array):
            made = make(shape, strides=strides)
            assert made.strides == tuple(np.atleast_1d(strides))
            made[...] = values
            assert np.array_equal(np.asarray(made), values)


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"shape": np.float32(2)}, TypeError, "shape must be an integer or tuple of integers"),
        ({"shape": (2, 3.0)}, TypeError, "shape elements must be integers, got float"),
        ({"shape": -1}, ValueError, "negative dimensions are not allowed"),
        ({"shape": (2**31, 2**31, 2**31)}, ValueError, "overflows|more than an array can have"),
        ({"shape": 2**70}, ValueError, "64 bits|more than an array can have"),
        ({"shape": 2, "dtype": "O"}, TypeError, "they are Python objects"),
        ({"shape": 2, "dtype": [("a", "O")]}, TypeError, "they are Python objects"),
    ],
)
@pytest.mark.parametrize("make", [memory.device_array, memory.pinned_array, memory.mapped_array])
def test_refused_descriptions(make, arguments, error, text):
    with pytest.raises(error, match=text):
        make(**arguments)


def test_shapes_of_numpys_integers():
    assert memory.device_array(np.int64(3)).shape == (3,)
    assert memory.device_array(np.array([2, 3])).shape == (2, 3)
    assert memory.device_array([2, np.uint8(3)], strides=None).shape == (2, 3)


# --- to the device ------------------------------------------------------------------------------


def test_to_device_repeats_no_element_of_a_broadcast_array(ctx):
    host = np.broadcast_to(np.arange(1000), (1000, 1000))
    before = ctx.bytes_allocated
    array = memory.to_device(host)
    assert ctx.bytes_allocated - before < host.nbytes // 10
    assert array.strides == host.strides
    assert np.array_equal(array.copy_to_host(), host)


def test_arrays_of_other_libraries_are_not_copied():
    array = memory.to_device(np.arange(3))
    # Some describe numbers as structures of one field, too.
    theirs = memory.to_device(ByInterface(array, descr=[("", "<i8")]))
    assert (theirs.address, theirs.dtype) == (array.address, array.dtype)


def test_a_view_keeps_the_owner(ctx):
    array = memory.to_device(np.arange(3))
    owner = Event(ctx)  # something that can be referred to weakly
    references = len(gc.get_referrers(owner))
    view = memory.from_cuda_array_interface(array.__cuda_array_interface__, owner=owner)
    assert len(gc.get_referrers(owner)) > references
    assert view.address == array.address


def test_a_stream_that_the_interface_names(begin):
    array = memory.device_array(3)
    stream = begin()
    named = {**array.__cuda_array_interface__, "stream": stream.handle}
    memory.from_cuda_array_interface(named, owner=stream, sync=False)
    assert not stream.query()
    copied = memory.from_cuda_array_interface(named, owner=stream).copy_to_host()
    assert stream.query()
    assert copied.shape == (3,)


# --- streams and events -------------------------------------------------------------------------


def test_streams_are_taken_everywhere(ctx):
    host = np.arange(3)
    theirs = PlainStream(ctx)
    streams = [0, None, theirs, Theirs(theirs.handle), memory.stream(), memory.default_stream()]
    streams += [memory.legacy_default_stream(), memory.per_thread_default_stream()]
    for stream in streams:
        array = memory.to_device(host, stream=stream)
        assert (array.copy_to_host(stream=stream) == host).all()
        event = memory.event()
        event.record(stream)
        event.wait(stream)
        if isinstance(stream, memory.Stream):
            stream.synchronize()
            assert stream.__cuda_stream__() == (0, int(stream)) == (0, stream.handle.value)
    memory.synchronize()


def test_an_event_holds_work_back(begin, make_stream):
    other = PlainStream(non_blocking=True)
    event = memory.event(timing=False)
    event.record(begin())
    event.wait(other)
    assert not other.query()
    other.synchronize()
    assert event.query()


def test_times_between_events():
    start, end = memory.event(), memory.event()
    start.record()
    end.record(memory.stream())
    end.synchronize()
    memory.synchronize()
    assert memory.event_elapsed_time(start, end) == pytest.approx(start.elapsed_time(end))
    with pytest.raises(ValueError, match="timing"):
        memory.event_elapsed_time(start, memory.event(timing=False))


def test_a_stream_that_is_none(ctx):
    with pytest.raises(OSError, match="INVALID_HANDLE"):
        memory.external_stream(8).synchronize()


# --- devices ------------------------------------------------------------------------------------


def test_each_thread_has_its_device(other_ctx):
    try:
        assert memory.select_device(1).handle == other_ctx.handle
        assert memory.device_array(3).context.device_number == 1
        assert memory.to_device(np.ones(3)).context.device_number == 1
        assert in_thread(lambda: memory.device_array(3)).context.device_number == 0
        with pytest.raises(ValueError, match="device"):
            memory.select_device(99)
        assert memory.current_context().device_number == 1
    finally:
        memory.select_device(0)


# --- what the host array gets back --------------------------------------------------------------


def test_an_array_that_nobody_refers_to_any_more_is_not_kept(ctx):
    before, host = ctx.bytes_allocated, np.zeros(1 << 20, "u1")
    memory.DeviceNDArray(host.shape, host.strides, host.dtype, writeback=host)
    assert ctx.bytes_allocated == before


# --- the import ---------------------------------------------------------------------------------


def test_nothing_is_imported_that_is_not_used(run_python):
    code = """
import sys
from pyarrow import cuda
from pyarrow_cuda_compat import DeviceArray
print([name for name in sys.modules if name.startswith("pyarrow_cuda_compat.") and
       ("smart" in name or "memory" in name.split("."))])
from pyarrow_cuda_compat import SmartArray, memory
cuda.Context(0).new_buffer(1)
others = {"numba", "cupy", "torch", "jax", "cuda", "dask", "distributed"}
print(others & set(sys.modules), "pyarrow_cuda_compat.dask" in sys.modules)
"""
    assert run_python(code) == (0, "[]\nset() False\n", "")


def test_the_module_works_after_a_reset(run_python):
    status, out, err = run_python("""
import numpy as np
import pyarrow_cuda_compat.pygpu as gpuarray
from pyarrow_cuda_compat import memory

lost = memory.to_device(np.arange(3))
assert gpuarray.cudaSetDevice(0) == 0
assert gpuarray.cudaDeviceReset() == 0
for use in (
    lost.copy_to_host,
    lost.copy,
    lost.__dlpack__,
    lambda: lost.__dlpack__(stream=-1, max_version=(1, 0)),
    lost.buffer.__dlpack__,
    lambda: lost.__cuda_array_interface__,
    lambda: lost.fill(0),
    lambda: str(lost[0]),
):
    try:
        use()
    except OSError as error:
        print(error.code, end=" ")
print(memory.to_device(np.arange(3)).copy_to_host())
""")
    assert (status, out) == (0, "201 " * 8 + "[0 1 2]\n"), err


def test_parameters_of_methods_have_numbas_names():
    array = memory.to_device(np.arange(6.0).reshape(1, 2, 3))
    array.copy_to_device(ary=np.ones((1, 2, 3)), stream=0)
    assert array.copy_to_host(ary=None, stream=0).sum() == 6
    assert array.squeeze(axis=None, stream=0).shape == (2, 3)
    assert array.squeeze(0, stream=memory.stream()).transpose(axes=(1, 0)).shape == (3, 2)
    assert array.transpose(axes=None).shape == (3, 2, 1)
    assert array.ravel(order="C", stream=0).shape == (6,)
    with pytest.raises(TypeError, match="not both"):
        array.transpose(0, 1, 2, axes=(0, 1, 2))
