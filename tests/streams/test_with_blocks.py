"""``with stream:``: the stream in place of the default stream, for one thread."""

import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import pyarrow_cuda_compat as compat
from pyarrow_cuda_compat import DeviceArray, Event, Stream
from support.samples import CPU
from support.streams import AFTER, BEFORE, SIZE, pinned_of


@pytest.fixture
def late(ctx, stream, queue):
    """A buffer that the stream fills a while later."""
    buf = ctx.buffer_from_data(BEFORE)

    def begin():
        queue.sleep()
        queue.fill(buf, 7)
        assert not stream.query()
        return buf

    return begin


# Each returns bytes of the buffer, in a way of its own.
READS = {
    "copy_to_host": lambda buf: buf.copy_to_host().to_pybytes(),
    "pinned": lambda buf: buf.copy_to_host(buf=compat.new_host_buffer(SIZE)).to_pybytes(),
    "to_pybytes": lambda buf: buf.to_pybytes(),
    "item": lambda buf: bytes([buf[3]]) * SIZE,
    "asarray": lambda buf: np.asarray(buf).tobytes(),
    "buffer_from_data": lambda buf: buf.context.buffer_from_data(buf).to_pybytes(),
    "buffers_from_data": lambda buf: buf.context.buffers_from_data([buf])[0].to_pybytes(),
    "copy_from_device": lambda buf: _copied(buf).to_pybytes(),
    "equals": lambda buf: AFTER if buf.equals(pa.py_buffer(AFTER)) else BEFORE,
    "equals on the device": lambda buf: AFTER if buf.equals(_afterwards(buf)) else BEFORE,
    "read": lambda buf: compat.BufferReader(buf).read(),
    "file": lambda buf: _in_file(buf),
    "array": lambda buf: DeviceArray(buf, "u1").copy_to_host().tobytes(),
    "strided array": lambda buf: DeviceArray(buf, "u1", (SIZE // 2, 2)).T.copy_to_host().tobytes(),
    "array copy": lambda buf: DeviceArray(buf, "u1")[::-1].copy().copy_to_host().tobytes(),
    "element": lambda buf: bytes([DeviceArray(buf, "u1")[9].item()]) * SIZE,
    "copy_to": lambda buf: _array(buf).copy_to(CPU).buffers()[1].to_pybytes(),
    "copy_to there": lambda buf: _array(buf).copy_to(0).copy_to(CPU).buffers()[1].to_pybytes(),
    "buffer.copy": lambda buf: buf.copy(CPU).to_pybytes(),
    "dlpack": lambda buf: np.from_dlpack(buf, device="cpu").tobytes(),
    "ipc": lambda buf: buf.export_for_ipc() and buf.to_pybytes(),
}


def _copied(buf):
    copy = buf.context.new_buffer(SIZE)
    copy.copy_from_device(buf)
    return copy


def _in_file(buf):
    with tempfile.TemporaryDirectory() as folder:
        buf.copy_to_file(f"{folder}/copy")
        return Path(folder, "copy").read_bytes()


def _afterwards(buf):
    return buf.context.buffer_from_data(AFTER)


def _array(buf):
    return pa.Array.from_buffers(pa.uint8(), SIZE, [None, buf], null_count=0)


@pytest.mark.leaks
@pytest.mark.parametrize("name", READS)
def test_calls_see_the_streams_work(stream, late, name):
    _afterwards(late()) and stream.synchronize()  # loads what has to be loaded once
    assert READS[name](late()) in (BEFORE, AFTER)
    stream.synchronize()
    buf = late()
    with stream:
        assert READS[name](buf) == AFTER


def test_arrow_exports_name_an_event_behind_it(stream, late):
    buf = late()
    array = _array(buf)
    with stream:
        schema, exported = array.__arrow_c_device_array__()
    imported = pa.Array._import_from_c_device_capsule(schema, exported)
    assert imported.copy_to(CPU).buffers()[1].to_pybytes() == AFTER


# Each writes AFTER to the buffer.
WRITES = {
    "fill": lambda buf: buf.fill(7),
    "pinned": lambda buf: buf.copy_from_host(pinned_of(compat, AFTER)),
    "pageable": lambda buf: buf.copy_from_host(AFTER),
    "device": lambda buf: buf.copy_from_device(_afterwards(buf)),
    "writer": lambda buf: compat.BufferWriter(buf).write(AFTER),
    "array": lambda buf: DeviceArray(buf, "u1").copy_to_device(np.full(SIZE, 7, np.uint8)),
    "assignment": lambda buf: DeviceArray(buf, "u1").__setitem__(..., 7),
}


@pytest.mark.parametrize("name", WRITES)
def test_writes_come_after_it_and_are_complete(ctx, stream, queue, name):
    buf = ctx.new_buffer(SIZE)
    WRITES[name](buf)
    queue.sleep()
    queue.fill(buf, 1)
    with stream:
        WRITES[name](buf)
        assert stream.query()
    assert buf.to_pybytes() == AFTER


def test_copies_do_not_wait_for_the_default_stream(cuda, ctx, stream, default_stream):
    """They run on the stream, so that threads with a stream each do not wait for each other."""
    buf, copy = ctx.buffer_from_data(BEFORE), ctx.new_buffer(SIZE)
    pinned = cuda.new_host_buffer(SIZE)
    release = default_stream.hold()
    with stream:
        buf.fill(7)
        copy.copy_from_device(buf)
        copy.copy_to_host(buf=pinned)
        assert pinned.to_pybytes() == AFTER
    release()


def test_a_named_stream_is_not_waited_for(ctx, stream, queue):
    buf = ctx.new_buffer(SIZE)
    other = Stream(ctx, non_blocking=True)
    release = queue.hold()
    with other:
        buf.fill(7, stream=stream)
    assert not stream.query()
    with stream:
        buf.fill(1, stream=stream)
        assert not stream.query()
    release()
    with stream:
        assert buf.to_pybytes() == b"\1" * SIZE


def test_zero_is_the_default_stream(ctx, stream, queue):
    array = DeviceArray.from_host(np.arange(3))
    event = Event(ctx)
    release = queue.hold()
    with stream:
        event.record(0)
        event.synchronize()  # otherwise it would never return
    release()
    with stream:
        assert array.copy_to_host(stream=0).tolist() == [0, 1, 2]


def test_each_context_has_its_own(ctx, other_ctx, stream, late):
    there = Stream(other_ctx, non_blocking=True)
    buf, copy = late(), other_ctx.buffer_from_data(BEFORE)
    with stream, there:
        assert copy.to_pybytes() == BEFORE
        assert not stream.query()
        copy.copy_from_device(buf)
        assert copy.to_pybytes() == AFTER


def test_a_copy_between_devices_waits_for_either(ctx, other_ctx, stream, late):
    buf, copy = late(), other_ctx.buffer_from_data(BEFORE)
    with stream:
        copy.copy_from_device(buf)
    assert copy.to_pybytes() == AFTER


@pytest.mark.subprocesses
def test_a_thread_may_end_within_a_block(run_python):
    code, out, err = run_python("""
import threading
import pyarrow_cuda_compat as compat
ctx = compat.Context(0)

def work():
    stream = compat.Stream(ctx, non_blocking=True)
    stream.__enter__()
    ctx.new_buffer(100).fill(1)

for _ in range(5):
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
compat.Stream(0).__enter__()  # and the program, too
print(ctx.bytes_allocated)
""")
    assert (code, out, err) == (0, "0\n", "")


@pytest.mark.subprocesses
def test_the_context_of_a_stream_may_go(run_python):
    code, out, err = run_python("""
import pyarrow_cuda_compat as compat
from pyarrow_cuda_compat import _native
before = compat.Context(0)
with compat.Stream(before):
    _native._reset_device(0)
    print(compat.Context(0).buffer_from_data(b"after").to_pybytes())
    try:
        compat.Event(before).record()
    except OSError as error:
        print("201" in str(error))
""")
    assert (code, out, err) == (0, "b'after'\nTrue\n", "")
