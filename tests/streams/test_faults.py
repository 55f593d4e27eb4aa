"""Streams when driver calls fail."""

import pytest

from pyarrow_cuda_compat import Event, Stream
from support.streams import AFTER, BEFORE, SIZE, START, Theirs, pinned_of


@pytest.mark.simulator
@pytest.mark.parametrize("name", ["synchronize", "query"])
@pytest.mark.parametrize("kind", ["Stream", "Event"])
def test_a_failure_of_queued_work_says_so(ctx, stream, fault, kind, name):
    waited_for = stream if kind == "Stream" else stream.record()
    function = f"cu{kind}{name.capitalize()}"
    fault(f"{function}:1=700")
    with pytest.raises(OSError, match=f"Cuda error 700 in function '{function}'") as caught:
        getattr(waited_for, name)()
    assert "queued earlier" in caught.value.__notes__[0]


@pytest.mark.simulator
def test_a_copy_whose_end_cannot_be_marked_is_waited_for(ctx, begin, fault):
    before, buf = ctx.bytes_allocated, ctx.buffer_from_data(BEFORE)
    fault("cuEventRecord:1=999")
    busy = begin()
    buf.fill(7, stream=busy)
    assert busy.query()
    assert buf.to_pybytes() == AFTER
    del buf
    assert ctx.bytes_allocated == before


@pytest.mark.simulator
def test_a_copy_of_which_nothing_is_known_keeps_what_it_needs(ctx, run_python):
    code, out, err = run_python(
        START
        + """
stream.synchronize()
del buf
before = ctx.bytes_allocated
buf = ctx.new_buffer(1000)
queue.sleep()
driver.library.cuda_sim_fault(b"cuEventRecord:1=999,cuStreamSynchronize:1=999")
try:
    buf.fill(1, stream=stream)
except OSError as error:
    assert "cuEventRecord" in str(error), error
del buf
stream.synchronize()
assert ctx.bytes_allocated == before + 1000
""",
    )
    assert (code, out, err) == (0, "", "")


@pytest.mark.simulator
@pytest.mark.parametrize("code", [1, 999])
def test_a_call_that_fails_queues_nothing_and_keeps_nothing(cuda, ctx, stream, fault, code):
    before = ctx.bytes_allocated
    pinned, buf = pinned_of(cuda, BEFORE), ctx.buffer_from_data(BEFORE)
    calls = {
        "cuMemsetD8Async": lambda buf: buf.fill(1, stream=stream),
        "cuMemcpyHtoDAsync": lambda buf: buf.copy_from_host(pinned, stream=stream),
        "cuMemcpyDtoHAsync": lambda buf: buf.copy_to_host(buf=pinned, stream=stream),
        "cuMemcpyDtoDAsync": lambda buf: buf.copy_from_device(
            ctx.buffer_from_data(AFTER), stream=stream
        ),
    }
    for function, call in calls.items():
        fault(f"{function}:1={code}")
        with pytest.raises(OSError, match=f"Cuda error {code} in function '{function}'"):
            call(buf)
    stream.synchronize()
    assert buf.to_pybytes() == pinned.to_pybytes() == BEFORE
    del buf
    assert ctx.bytes_allocated == before


@pytest.mark.simulator
def test_a_query_that_fails_releases_nothing(ctx, begin, fault):
    before, buffers = ctx.bytes_allocated, [ctx.new_buffer(SIZE), ctx.new_buffer(SIZE)]
    busy = begin()
    buffers.pop().fill(1, stream=busy)
    fault("cuEventQuery:1=999")
    buffers.pop().fill(1, stream=busy)
    assert ctx.bytes_allocated == before + 2 * SIZE
    busy.synchronize()
    assert ctx.bytes_allocated == before


@pytest.mark.simulator
def test_a_context_that_does_nothing_any_more_keeps_nothing(ctx, begin, fault):
    before, busy = ctx.bytes_allocated, begin()
    ctx.new_buffer(SIZE).fill(1, stream=busy)
    fault("cuEventQuery:1=700")
    ctx.synchronize()
    assert ctx.bytes_allocated == before


@pytest.mark.simulator
@pytest.mark.parametrize(
    "call",
    [
        lambda ctx, stream: Stream(ctx),
        lambda ctx, stream: Event(ctx),
        lambda ctx, stream: stream.record(),
        lambda ctx, stream: stream.wait(stream),
        lambda ctx, stream: ctx.new_buffer(8).fill(1, stream=stream),
        lambda ctx, stream: ctx.new_buffer(8).copy_to_host(stream=stream),
        lambda ctx, stream: ctx.new_buffer(8).copy_from_host(b"x", stream=stream),
        lambda ctx, stream: ctx.new_buffer(8).copy_from_host(b"x", stream=Theirs(stream.handle)),
    ],
)
def test_any_call_may_fail(ctx, stream, fault, call, monkeypatch):
    """Whichever driver call fails: an exception or a report, and nothing is lost."""
    before, reports = ctx.bytes_allocated, []
    monkeypatch.setattr("sys.unraisablehook", reports.append)
    for nth in range(1, 100):
        fault(f"*:{nth}=999")
        failed = None
        try:
            call(ctx, stream)
        except OSError as error:
            failed = str(error)
        if failed is None and not reports:
            break
        assert failed is None or "Cuda error 999" in failed
        reports.clear()
    fault("")
    assert nth < 99
    stream.synchronize()
    ctx.synchronize()
    kept = ctx.bytes_allocated - before
    assert kept <= 16 * nth, "only what a failed release has left"
