"""What is taken for a stream: ours, those of other libraries, nothing that could crash."""

import gc
import importlib

import numpy as np
import pyarrow as pa
import pytest

from pyarrow_cuda_compat import CudaBuffer, Event, Stream
from support.streams import AFTER, BEFORE, SIZE, Theirs, pinned_of


def frozen(buf):
    return CudaBuffer.from_buffer(pa.Buffer.slice(buf))


REFUSED = {
    "to host, position": lambda buf, host, **how: buf.copy_to_host(9, **how),
    "to host, negative": lambda buf, host, **how: buf.copy_to_host(-1, **how),
    "to host, too much": lambda buf, host, **how: buf.copy_to_host(0, 9, **how),
    "to host, no room": lambda buf, host, **how: buf.copy_to_host(0, 5, buf=host, **how),
    "to host, read-only": lambda buf, host, **how: buf.copy_to_host(
        buf=pa.py_buffer(b"read-only"), **how
    ),
    "to host, not host": lambda buf, host, **how: buf.copy_to_host(buf=buf, **how),
    "to host, no buffer": lambda buf, host, **how: buf.copy_to_host(buf=b"no", **how),
    "to host, no pool": lambda buf, host, **how: buf.copy_to_host(memory_pool=1, **how),
    "from host, position": lambda buf, host, **how: buf.copy_from_host(b"x", 9, **how),
    "from host, too much": lambda buf, host, **how: buf.copy_from_host(b"x", 0, 2, **how),
    "from host, no room": lambda buf, host, **how: buf.copy_from_host(b"xyz", 6, 3, **how),
    "from host, no data": lambda buf, host, **how: buf.copy_from_host(1.5, **how),
    "from host, read-only": lambda buf, host, **how: frozen(buf).copy_from_host(b"x", **how),
    "from device, position": lambda buf, host, **how: buf.copy_from_device(buf, 9, **how),
    "from device, too much": lambda buf, host, **how: buf.copy_from_device(buf, 0, 9, **how),
    "from device, host": lambda buf, host, **how: buf.copy_from_device(host, **how),
    "from device, read-only": lambda buf, host, **how: frozen(buf).copy_from_device(buf, **how),
    "fill, position": lambda buf, host, **how: buf.fill(0, position=9, **how),
    "fill, too much": lambda buf, host, **how: buf.fill(0, nbytes=9, **how),
    "fill, large": lambda buf, host, **how: buf.fill(256, **how),
    "fill, negative": lambda buf, host, **how: buf.fill(-1, **how),
    "fill, no number": lambda buf, host, **how: buf.fill(b"x", **how),
    "fill, read-only": lambda buf, host, **how: frozen(buf).fill(0, **how),
}


@pytest.mark.parametrize("name", REFUSED)
def test_errors_are_the_same_with_a_stream(cuda, guarded, stream, name):
    buf, host = guarded(8), cuda.new_host_buffer(4)
    raised = []
    for how in ({}, {"stream": stream}):
        with pytest.raises((ValueError, TypeError)) as caught:
            REFUSED[name](buf, host, **how)
        raised.append((caught.type, str(caught.value)))
    assert raised[0] == raised[1]
    stream.synchronize()
    assert buf.to_pybytes() == bytes(8)


CALLS = {
    "copy_to_host": lambda buf, stream: buf.copy_to_host(stream=stream),
    "copy_from_host": lambda buf, stream: buf.copy_from_host(b"x", stream=stream),
    "copy_from_device": lambda buf, stream: buf.copy_from_device(buf.slice(1), stream=stream),
    "fill": lambda buf, stream: buf.fill(0, stream=stream),
    "record": lambda buf, stream: Event(buf.context).record(stream),
    "wait": lambda buf, stream: Stream(buf.context).wait(stream),
}


NUMBERS = [(name, number) for name in CALLS for number in (0, 1, 2, 12345, np.int64(5), True)]
NUMBERS.remove(("record", 0))  # Numba's name for the default stream


@pytest.mark.parametrize(("name", "handle"), NUMBERS, ids=repr)
def test_a_number_is_no_stream(ctx, name, handle):
    buf = ctx.buffer_from_data(b"content")
    with pytest.raises(TypeError, match=r"must be a Stream.*pass the object that owns"):
        CALLS[name](buf, handle)
    assert buf.to_pybytes() == b"content"


@pytest.mark.parametrize(
    "thing", ["stream", b"x", 1.5, pytest.param(object(), id="object"), Event, Stream], ids=repr
)
@pytest.mark.parametrize("name", CALLS)
def test_other_things_are_no_streams(ctx, name, thing):
    with pytest.raises(TypeError):
        CALLS[name](ctx.buffer_from_data(b"content"), thing)


@pytest.mark.parametrize("name", CALLS)
def test_answers_that_are_none(ctx, name):
    buf = ctx.buffer_from_data(b"content")

    def refuse(error, match, answer):
        theirs = Theirs(0)
        theirs.answer = answer
        with pytest.raises(error, match=match):
            CALLS[name](buf, theirs)

    refuse(ValueError, "version 1 of __cuda_stream__", (1, 0))
    for answer in (None, 5, (0,), (0, "x"), (0, None), (0, -1), (0, 1 << 64), (0, 0, 0)):
        refuse(TypeError, "must return a version and a handle", answer)
    # The driver would crash.
    for handle in (3, 12345, 0xDEAD_BEE8, (1 << 64) - 8):
        refuse(OSError, "Cuda error 400 ", (0, handle))

    class Raises:
        def __cuda_stream__(self):
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        CALLS[name](buf, Raises())
    assert buf.to_pybytes() == b"content"


@pytest.mark.parametrize("name", [name for name in CALLS if name != "wait"])
def test_a_stream_of_another_device_is_refused(ctx, other_ctx, name):
    buf, there = ctx.buffer_from_data(b"content"), Stream(other_ctx)
    for stream in (there, Theirs(there.handle)):
        with pytest.raises(ValueError, match=r"another context|belongs to context|different"):
            CALLS[name](buf, stream)
    there.synchronize()
    assert buf.to_pybytes() == b"content"


def test_the_object_is_kept_while_its_stream_is_used(ctx, make_stream):
    class Temporary(Theirs):
        def __cuda_stream__(self):
            gc.collect()
            return self.answer

    queue = make_stream(1)
    buf = ctx.buffer_from_data(BEFORE)
    buf.fill(7, stream=Temporary(queue.stream.value))
    assert buf.copy_to_host(stream=Temporary(queue.stream.value)).to_pybytes() == AFTER
    ctx.synchronize()


@pytest.mark.parametrize("handle", [0, 1, 2])
def test_default_streams_of_others(cuda, ctx, handle):
    buf, pinned = ctx.buffer_from_data(BEFORE), pinned_of(cuda, BEFORE)
    buf.fill(7, stream=Theirs(handle))
    buf.copy_to_host(buf=pinned, stream=Theirs(handle))
    stream = Stream(ctx)
    stream.wait(Theirs(handle))
    stream.synchronize()
    assert pinned.to_pybytes() == AFTER


def of_library(module, name, **attributes):
    """A stream of a library, as versions without `__cuda_stream__` have it."""
    stream = type(name, (), {"__module__": module})()
    vars(stream).update(attributes)
    return stream


def of_cupy(handle, device, name="Stream"):
    return of_library("cupy.cuda.stream", name, ptr=handle, device_id=device)


def of_torch(handle, device):
    return of_library("torch.cuda.streams", "Stream", cuda_stream=handle, device_index=device)


@pytest.mark.parametrize("wrap", [of_cupy, of_torch])
def test_streams_of_libraries_without_the_protocol(cuda, ctx, make_stream, wrap):
    queue, pinned = make_stream(1), pinned_of(cuda, BEFORE)
    theirs, buf = wrap(queue.stream.value, ctx.device_number), ctx.buffer_from_data(BEFORE)
    there = pa.array([1]).copy_to(ctx, stream=theirs)
    queue.sleep()
    buf.fill(7, stream=theirs)
    buf.copy_to_host(buf=pinned, stream=theirs)
    Stream(ctx).wait(theirs)
    ctx.synchronize()
    assert pinned.to_pybytes() == AFTER
    assert there.copy_to("cpu").to_pylist() == [1]


@pytest.mark.parametrize("wrap", [of_cupy, of_torch])
def test_their_default_streams_belong_to_a_device(ctx, other_ctx, wrap):
    buf = ctx.buffer_from_data(BEFORE)
    buf.fill(7, stream=wrap(0, ctx.device_number))
    assert buf.to_pybytes() == AFTER
    with pytest.raises(ValueError, match="another context"):
        buf.fill(8, stream=wrap(0, other_ctx.device_number))
    assert buf.to_pybytes() == AFTER
    ctx.synchronize()  # takes note that nothing is under way


@pytest.mark.parametrize("handle", [0, 2])
def test_cupys_default_streams_belong_to_any_device(ctx, handle):
    buf = ctx.buffer_from_data(BEFORE)
    buf.fill(7, stream=of_cupy(handle, -1))
    assert buf.to_pybytes() == AFTER
    ctx.synchronize()  # as above


def test_other_objects_with_such_attributes_are_no_streams(ctx):
    buf = ctx.buffer_from_data(BEFORE)
    for thing in (
        of_cupy(0, 0, name="Event"),
        of_library("cupy.cuda.memory", "Stream", ptr=0, device_id=0),
        of_library("mine", "Stream", ptr=0, cuda_stream=0),
        of_library("torch.cuda.streams", "Event", cuda_stream=0),
    ):
        with pytest.raises(TypeError, match="a stream of CuPy or PyTorch"):
            buf.fill(7, stream=thing)
    assert buf.to_pybytes() == BEFORE


@pytest.fixture
def cupy():
    return pytest.importorskip("cupy")


@pytest.mark.hardware
def test_cupys_streams(cupy, cuda, ctx):
    theirs, buf = cupy.cuda.Stream(non_blocking=True), ctx.new_buffer(SIZE)
    pinned = cuda.new_host_buffer(SIZE)
    with theirs:
        array = cupy.from_dlpack(buf)
        array[:] = 7
        buf.copy_to_host(buf=pinned, stream=theirs)
    theirs.synchronize()
    assert pinned.to_pybytes() == AFTER
    for null in (cupy.cuda.Stream.null, cupy.cuda.Stream.ptds):
        buf.fill(8, stream=null)
        null.synchronize()
        assert buf[0] == 8
    ctx.synchronize()  # takes note that nothing is under way


@pytest.mark.hardware
def test_cupy_uses_our_stream(cupy, cuda, ctx):
    stream, buf = Stream(ctx, non_blocking=True), ctx.buffer_from_data(BEFORE)
    pinned = cuda.new_host_buffer(SIZE)
    with cupy.cuda.Stream.from_external(stream):
        array = cupy.from_dlpack(buf)
        array += 6
    buf.copy_to_host(buf=pinned, stream=stream)
    stream.synchronize()
    assert pinned.to_pybytes() == AFTER


@pytest.mark.hardware
def test_pinned_memory_of_cupy(cupy, ctx, begin):
    cupyx = importlib.import_module("cupyx")
    array, buf = cupyx.empty_pinned(SIZE, np.uint8), ctx.buffer_from_data(AFTER)
    array[:] = 1
    busy = begin()
    buf.copy_to_host(buf=pa.py_buffer(array), stream=busy)
    assert not busy.query()
    busy.synchronize()
    assert array.tobytes() == AFTER


@pytest.mark.hardware
def test_torchs_streams(cuda, ctx):
    torch = pytest.importorskip("torch")
    theirs = torch.cuda.Stream()
    buf, pinned = ctx.new_buffer(SIZE), cuda.new_host_buffer(SIZE)
    with torch.cuda.stream(theirs):
        torch.from_dlpack(buf).fill_(7)
        buf.copy_to_host(buf=pinned, stream=theirs)
    theirs.synchronize()
    assert pinned.to_pybytes() == AFTER
    stream = Stream(ctx, non_blocking=True)
    with torch.cuda.stream(torch.cuda.ExternalStream(stream.handle)):
        torch.from_dlpack(buf).fill_(9)
    assert buf.copy_to_host(stream=stream).to_pybytes() == b"\x09" * SIZE


@pytest.mark.hardware
def test_a_captured_stream_is_refused(cupy, ctx):
    theirs, buf = cupy.cuda.Stream(non_blocking=True), ctx.buffer_from_data(BEFORE)
    with theirs:
        theirs.begin_capture()
        with pytest.raises(OSError, match="Cuda error 900 "):
            buf.fill(7, stream=theirs)
        theirs.end_capture()
    assert buf.to_pybytes() == BEFORE
