"""Priorities of streams."""

import ctypes

import pytest

from pyarrow_cuda_compat import Stream


@pytest.mark.parametrize("non_blocking", [False, True])
def test_streams_have_the_priority_that_was_asked_for(ctx, driver, current, non_blocking):
    least, greatest = Stream.priority_range(ctx)
    for priority in range(greatest, least + 1):
        stream = Stream(ctx, non_blocking=non_blocking, priority=priority)
        found = ctypes.c_int()
        handle = ctypes.c_void_p(stream.handle)
        driver.call("cuStreamGetPriority", handle, ctypes.byref(found))
        assert stream.priority == found.value == priority
        flags = ctypes.c_uint()
        driver.call("cuStreamGetFlags", handle, ctypes.byref(flags))
        assert flags.value == int(non_blocking)
    # The driver takes the nearest for a number that is outside of the range.
    for outside, nearest in [(greatest - 10, greatest), (-(1 << 40), greatest), (10, least)]:
        assert Stream(ctx, non_blocking=non_blocking, priority=outside).priority == nearest
