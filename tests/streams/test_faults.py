"""Streams when driver calls fail in ways that `tests/faults` does not look into."""

import pytest

from support.streams import AFTER, BEFORE, SIZE, START


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
    buf = ctx.buffer_from_data(BEFORE)
    fault("cuEventRecord:1=999")
    busy = begin()
    buf.fill(7, stream=busy)
    assert busy.query()
    assert buf.to_pybytes() == AFTER


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
def test_a_query_that_fails_releases_nothing(ctx, begin, fault):
    before, buffers = ctx.bytes_allocated, [ctx.new_buffer(SIZE), ctx.new_buffer(SIZE)]
    busy = begin()
    buffers.pop().fill(1, stream=busy)
    fault("cuEventQuery:1=999")
    buffers.pop().fill(1, stream=busy)
    assert ctx.bytes_allocated == before + 2 * SIZE


@pytest.mark.simulator
def test_a_context_that_does_nothing_any_more_keeps_nothing(ctx, begin, fault):
    before, busy = ctx.bytes_allocated, begin()
    ctx.new_buffer(SIZE).fill(1, stream=busy)
    fault("cuEventQuery:1=700")
    ctx.synchronize()
    assert ctx.bytes_allocated == before
