"""Copies: every byte that should move does, and no other."""

from functools import partial

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

SIZE = 100
OLD = bytes((13 * index + 1) % 256 for index in range(SIZE))

positions = st.integers(0, SIZE)


@pytest.fixture
def buffer(guarded):
    return guarded(SIZE)


def check_copy(copy, buffer, data, position, nbytes):
    """A copy into the buffer, of which `data` is the source's content."""
    buffer.copy_from_host(OLD)
    limit = min(len(data), SIZE - position)
    if nbytes > limit:
        with pytest.raises(ValueError, match="requested more to copy than available"):
            copy(position, nbytes)
        assert buffer.to_pybytes() == OLD
        return
    count = limit if nbytes < 0 else nbytes
    assert copy(position=position, nbytes=nbytes) == count
    expected = bytearray(OLD)
    expected[position : position + count] = data[:count]
    assert buffer.to_pybytes() == expected


@given(data=st.binary(max_size=SIZE + 20), position=positions, nbytes=st.integers(-1, SIZE + 20))
def test_from_host(buffer, data, position, nbytes):
    check_copy(partial(buffer.copy_from_host, data), buffer, data, position, nbytes)


@given(position=positions, nbytes=st.integers(-1, SIZE + 20), room=st.none() | positions)
def test_to_host(buffer, position, nbytes, room):
    buffer.copy_from_host(OLD)
    target = None if room is None else bytearray(b"-" * room)
    argument = None if room is None else pa.py_buffer(target)
    limit = SIZE - position if room is None else min(SIZE - position, room)
    if nbytes > limit:
        with pytest.raises(ValueError, match="requested"):
            buffer.copy_to_host(position, nbytes, buf=argument)
        assert room is None or target == b"-" * room
        return
    count = limit if nbytes < 0 else nbytes
    out = buffer.copy_to_host(position=position, nbytes=nbytes, buf=argument)
    if room is None:
        assert out.to_pybytes() == OLD[position : position + count]
    else:
        assert out is argument
        assert target == OLD[position : position + count] + b"-" * (room - count)


@given(
    start=positions,
    length=positions,
    position=positions,
    nbytes=st.integers(-1, SIZE),
)
def test_from_device_even_where_the_ranges_overlap(buffer, start, length, position, nbytes):
    copy = partial(buffer.copy_from_device, buffer[start : start + length])
    check_copy(copy, buffer, OLD[start : start + length], position, nbytes)


@given(value=st.integers(0, 255), position=positions, nbytes=st.just(-1) | positions)
def test_fill(buffer, value, position, nbytes):
    count = SIZE - position if nbytes < 0 else min(nbytes, SIZE - position)
    buffer.copy_from_host(OLD)
    buffer.fill(value=value, position=position, nbytes=min(nbytes, count))
    expected = OLD[:position] + bytes([value]) * count + OLD[position + count :]
    assert buffer.to_pybytes() == expected


@given(data=st.binary(max_size=SIZE), position=positions)
def test_from_another_device(guarded, other_ctx, data, position):
    buffer = guarded(SIZE)
    there = guarded(len(data), other_ctx)
    there.copy_from_host(data)
    check_copy(partial(buffer.copy_from_device, there), buffer, data, position, -1)
    assert there.copy_from_device(buffer, 0) == len(data)
    assert there.to_pybytes() == buffer.to_pybytes()[: len(data)]
    assert there.context.device_number == 1
