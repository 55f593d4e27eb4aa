"""Equality on the device, at every border of what the kernel cuts buffers into."""

import random

import pytest

from support.threads import in_threads


def pattern(size):
    """Bytes that repeat at no distance that the kernel works with."""
    return (random.Random(1).randbytes(min(size, 65521)) * (size // 65521 + 1))[:size]


def test_answers_are_not_mixed_up_between_threads(ctx):
    data = pattern(100_000)
    ours, theirs = ctx.buffer_from_data(data), ctx.buffer_from_data(b"..." + data).slice(3)
    changed = ctx.buffer_from_data(data[:-1] + bytes([data[-1] ^ 1]))

    def compare(number):
        for _ in range(50):
            assert ours.equals([theirs, changed][number % 2]) == (number % 2 == 0)

    in_threads(compare, 6)


def test_a_buffer_equals_parts_of_itself_that_repeat(ctx):
    buffer = ctx.buffer_from_data(bytes(range(32)) * 3000)
    assert buffer[32:].equals(buffer[:-32])
    assert not buffer[31:-1].equals(buffer[:-32])


def test_equality_across_devices_sees_each_piece(ctx, other_ctx):
    data = pattern((64 << 20) + 100)
    ours, theirs = ctx.buffer_from_data(data), other_ctx.buffer_from_data(data)
    for place in ((64 << 20) - 1, 64 << 20):
        assert ours.equals(theirs)
        theirs.copy_from_host(bytes([data[place] ^ 1]), place)
        assert not ours.equals(theirs), place
        assert not theirs.equals(ours), place
        theirs.copy_from_host(data[place : place + 1], place)
    assert theirs.equals(ours)


@pytest.mark.simulator
def test_equality_across_devices_where_one_is_nearly_full(run_python):
    code = """
from pyarrow import cuda
ctx, other = cuda.Context(0), cuda.Context(1)
size = 24 << 20
data = bytes(range(256)) * (size >> 8)
ours, theirs = ctx.buffer_from_data(data), other.buffer_from_data(data)
print(ours.equals(theirs))
theirs.copy_from_host(b"?", size - 2)
print(ours.equals(theirs))
"""
    done = run_python(code, CUDA_SIM_DEVICES="2", CUDA_SIM_MEMORY=str(32 << 20))
    assert done == (0, "True\nFalse\n", ""), done


@pytest.mark.simulator
@pytest.mark.parametrize("function", ["cuMemHostRegister", "cuMemHostGetDevicePointer"])
def test_equality_where_no_host_memory_can_be_pinned(run_python, function):
    code = """
from pyarrow import cuda
ctx = cuda.Context(0)
ours, theirs = ctx.buffer_from_data(b"some bytes"), ctx.buffer_from_data(b"same bytes")
print(ours.equals(theirs), ours[4:].equals(theirs[4:]), ours.equals(theirs))
"""
    done = run_python(code, CUDA_SIM_FAULT=f"{function}:1+=801")
    assert done == (0, "False True False\n", ""), done
