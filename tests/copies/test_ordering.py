"""Copies among work that is still running."""

import threading

import pytest

from pyarrow_cuda_compat import Event, Stream, empty_cache, new_host_buffer


@pytest.mark.parametrize("size", [1000, 4 << 20])
@pytest.mark.parametrize("work", ["down", "up", "equals"])
def test_a_copy_that_waits_stalls_no_other_thread(ctx, default_stream, work, size):
    """The driver's own synchronous copies keep the whole context waiting."""
    content = bytes(size)
    source, target = ctx.buffer_from_data(content), ctx.buffer_from_data(content)
    source.equals(target)  # compiles the kernel
    call = {
        "down": source.to_pybytes,
        "up": lambda: source.copy_from_host(content),
        "equals": lambda: source.equals(target),
    }[work]
    pinned = new_host_buffer(size)
    empty_cache(ctx)  # so that the driver allocates below
    let_go = default_stream.hold()
    limit = threading.Timer(10, let_go)  # a thread that is stalled lets nobody go
    waiting = threading.Thread(target=call)
    waiting.start()
    limit.start()
    waiting.join(0.1)
    buffer, stream = ctx.new_buffer(size), Stream(ctx, non_blocking=True)
    buffer.copy_from_host(pinned, stream=stream)
    Event(ctx).record(stream)
    assert not default_stream.is_idle()
    limit.cancel()
    let_go()
    waiting.join()
    stream.synchronize()
