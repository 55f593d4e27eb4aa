"""Copies and releases among work that is still running."""

import pytest

from support.work import NON_BLOCKING


@pytest.fixture
def side_stream(make_stream):
    return make_stream(NON_BLOCKING)


def test_a_copy_to_the_host_sees_the_default_streams_work(ctx, default_stream):
    buffer = ctx.buffer_from_data(bytes(1000))
    default_stream.sleep()
    default_stream.fill(buffer, 7)
    assert not default_stream.is_idle()
    assert buffer.to_pybytes() == b"\x07" * 1000


def test_a_copy_from_the_host_comes_after_the_default_streams_work(ctx, default_stream):
    buffer = ctx.buffer_from_data(bytes(1000))
    default_stream.sleep()
    default_stream.fill(buffer, 7)
    buffer.copy_from_host(b"\x09" * 1000)
    assert buffer.to_pybytes() == b"\x09" * 1000


def test_a_copy_between_buffers_is_complete_when_it_returns(ctx, default_stream):
    source, target = ctx.buffer_from_data(bytes(1000)), ctx.buffer_from_data(bytes(1000))
    default_stream.sleep()
    default_stream.fill(source, 7)
    target.copy_from_device(source)
    assert default_stream.is_idle()
    assert target.to_pybytes() == b"\x07" * 1000


def test_equality_sees_the_default_streams_work(ctx, default_stream):
    one, other = ctx.buffer_from_data(bytes(1000)), ctx.buffer_from_data(bytes(1000))
    default_stream.sleep()
    default_stream.fill(one, 7)
    assert not one.equals(other)


def test_synchronize_waits_for_every_stream(ctx, side_stream):
    side_stream.sleep()
    assert not side_stream.is_idle()
    ctx.synchronize()
    assert side_stream.is_idle()


@pytest.mark.parametrize("size", [1000, 4 << 20])
def test_memory_under_a_running_kernel_is_not_given_to_others(ctx, side_stream, size):
    buffer = ctx.buffer_from_data(bytes(size))
    side_stream.sleep()
    side_stream.fill(buffer, 7)
    assert not side_stream.is_idle()
    del buffer
    others = [ctx.buffer_from_data(b"\x01" * size) for _ in range(20)]
    ctx.synchronize()
    assert all(other.to_pybytes() == b"\x01" * size for other in others)
